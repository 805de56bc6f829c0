// The work itself, in a pool thread or, where it is small, in the worker: pieces of batches answered,
// and insights. Nothing here knows of threads. Reading a batch is batch-body.ts.

import { classifications } from '../model/kind.ts'
import { ask, newAsked } from '../table/lookup/query.ts'
import { explain } from '../table/explain/insights.ts'
import type { OpenTable } from '../table/open-table.ts'
import { skipSpace, textEnd } from './batch-body.ts'
import { badAnswer } from '../bulk/answer-lines.ts'
import { giveAway, newRoom, putPart, useRoom } from '../bulk/growing-buffer.ts'
import type { ItemResult } from './pool-task.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

type Answered = Extract<ItemResult, { kind: 'answered' }>

/** What the work asks of a table. */
type Answering = Pick<OpenTable, 'answer'>

const asked = newAsked()
const room = newRoom()

/**
 * A piece of a batch as `cutBatch` cut it; its texts go from bytes to bytes. The answers stand in
 * `into` where they have room there.
 */
export function answerPiece(table: Answering, piece: Uint8Array, into?: Uint8Array): Answered {
  useRoom(room, into)
  return answerShortForm(table, piece) ?? answerTexts(table, parsePiece(piece), into)
}

/** Texts without escapes, commas between; `undefined` for any other form. */
function answerShortForm(table: Answering, piece: Uint8Array): Answered | undefined {
  const answers = newAnswers()
  for (let at = skipSpace(piece, 0); at < piece.length;) {
    const to = textEnd(piece, at)
    if (to < 0) return undefined
    if (room.at > 0) putPart(room, commaBytes)
    if (ask(asked, piece, at + 1, to)) putAnswer(table, answers)
    else putPart(room, failure(decoder.decode(piece.subarray(at + 1, to))))
    at = skipSpace(piece, to + 1)
    // The last piece ends with its text, the others with the comma behind it.
    if (piece[at] === comma) at = skipSpace(piece, at + 1)
    else if (at < piece.length) return undefined
  }
  return { kind: 'answered', json: giveAway(room), answers }
}

/** The results of some elements of a batch, commas between them, byte for byte as single checks. */
export function answerTexts(
  table: Answering,
  texts: readonly unknown[],
  into?: Uint8Array,
): Answered {
  useRoom(room, into)
  const answers = newAnswers()
  texts.forEach((text, index) => {
    if (index > 0) putPart(room, commaBytes)
    const sent = typeof text === 'string' ? encoder.encode(text) : undefined
    if (sent !== undefined && ask(asked, sent, 0, sent.length)) putAnswer(table, answers)
    // What is no text at all is told apart by its JSON.
    else putPart(room, failure(typeof text === 'string' ? text : JSON.stringify(text)))
  })
  return { kind: 'answered', json: giveAway(room), answers }
}

const comma = 0x2c
const commaBytes = Uint8Array.of(comma)

function parsePiece(piece: Uint8Array): readonly unknown[] {
  const text = decoder.decode(piece).replace(/,\s*$/, '')
  return JSON.parse(`[${text}]`) as readonly unknown[]
}

function failure(ip: string): Uint8Array {
  return encoder.encode(badAnswer(ip))
}

function putAnswer(table: Answering, answers: number[]): void {
  const { classification, body } = table.answer(asked)
  answers[classifications.indexOf(classification)]! += 1
  putPart(room, body)
}

/** The check and its insights as JSON. */
export function answerInsights(table: OpenTable, builtMs: number, text: string): Answered {
  const { reader, asOf, sources } = table
  const answer = explain({ reader, asOf, sources, builtMs }, text)
  const answers = newAnswers()
  if (answer !== undefined) answers[classifications.indexOf(answer.classification)]! += 1
  return { kind: 'answered', json: encoder.encode(JSON.stringify(answer)), answers }
}

function newAnswers(): number[] {
  return classifications.map(() => 0)
}
