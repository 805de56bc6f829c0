// Answers pieces of batches, and insights: in a pool thread or, where they are few, in the worker.
// Nothing here knows of threads. Reading a batch is batch-body.ts.

import { classifications } from '../model/kind.ts'
import { parseQuery, newQuery } from '../table/lookup/query.ts'
import { answerWithInsights } from '../table/explain/insights.ts'
import type { OpenTable } from '../table/open-table.ts'
import { optionalMember } from '../base/optional-member.ts'
import { labelsOf } from '../table/answer/answer-labels.ts'
import { skipSpace, textEnd } from './batch-body.ts'
import { invalidAddressJson, invalidElementJson } from '../api/input-fault.ts'
import { detachBytes, newGrowingBuffer, appendBytes, resetBuffer } from '../bulk/growing-buffer.ts'
import type { Decide } from '../policy/decide-by.ts'
import type { ItemResult } from './pool-task.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

type AnsweredResult = Extract<ItemResult, { kind: 'answered' }>

/** The part of a table that this work needs. */
type AnsweringTable = Pick<OpenTable, 'answer'>

const query = newQuery()
const output = newGrowingBuffer()

/**
 * Answers a piece of a batch as `cutBatchBody` cut it, from bytes to bytes. The answers stand in
 * `into` where they fit.
 */
export function answerBatchPiece(
  table: AnsweringTable,
  piece: Uint8Array,
  into?: Uint8Array,
  decide?: Decide,
): AnsweredResult {
  resetBuffer(output, into)
  return (
    answerShortForm(table, piece, decide) ?? answerTexts(table, parsePiece(piece), into, decide)
  )
}

/** Texts without escapes, commas between; `undefined` for any other form. */
function answerShortForm(
  table: AnsweringTable,
  piece: Uint8Array,
  decide: Decide | undefined,
): AnsweredResult | undefined {
  const answers = newClassificationCounts()
  for (let at = skipSpace(piece, 0); at < piece.length;) {
    const to = textEnd(piece, at)
    if (to < 0) return undefined
    if (output.length > 0) appendBytes(output, commaBytes)
    if (parseQuery(query, piece, at + 1, to)) appendAnswer(table, answers, decide)
    else appendBytes(output, invalidAddressBytes(piece.subarray(at + 1, to)))
    at = skipSpace(piece, to + 1)
    // The last piece ends with its text, the others with the comma behind it.
    if (piece[at] === comma) at = skipSpace(piece, at + 1)
    else if (at < piece.length) return undefined
  }
  return { kind: 'answered', json: detachBytes(output), answers }
}

/** The results of some elements of a batch, commas between them, byte for byte as single checks. */
export function answerTexts(
  table: AnsweringTable,
  texts: readonly unknown[],
  into?: Uint8Array,
  decide?: Decide,
): AnsweredResult {
  resetBuffer(output, into)
  const answers = newClassificationCounts()
  texts.forEach((text, index) => {
    if (index > 0) appendBytes(output, commaBytes)
    const sent = typeof text === 'string' ? encoder.encode(text) : undefined
    if (sent !== undefined && parseQuery(query, sent, 0, sent.length))
      appendAnswer(table, answers, decide)
    else
      appendBytes(
        output,
        encoder.encode(
          typeof text === 'string' ? invalidAddressJson(text) : invalidElementJson(text),
        ),
      )
  })
  return { kind: 'answered', json: detachBytes(output), answers }
}

const comma = 0x2c
const commaBytes = Uint8Array.of(comma)

function parsePiece(piece: Uint8Array): readonly unknown[] {
  const text = decoder.decode(piece).replace(/,\s*$/, '')
  return JSON.parse(`[${text}]`) as readonly unknown[]
}

function invalidAddressBytes(text: Uint8Array): Uint8Array {
  return encoder.encode(invalidAddressJson(decoder.decode(text)))
}

function appendAnswer(table: AnsweringTable, answers: number[], decide: Decide | undefined): void {
  const { classification, body } = table.answer(query)
  answers[classifications.indexOf(classification)]! += 1
  appendBytes(output, decide === undefined ? body : decide(query, body))
}

/** The check and its insights as JSON. */
export function answerInsightsItem(
  table: OpenTable,
  builtMs: number,
  text: string,
  decide?: Decide,
): AnsweredResult {
  const { reader, asOf, sources } = table
  const answer = answerWithInsights({ reader, asOf, sources, builtMs }, text)
  const answers = newClassificationCounts()
  if (answer !== undefined) answers[classifications.indexOf(answer.classification)]! += 1
  const body = encoder.encode(JSON.stringify(answer))
  const sent = encoder.encode(text)
  const isDecided = decide !== undefined && parseQuery(query, sent, 0, sent.length)
  const json = isDecided ? decide(query, body) : body
  const labels = answer === undefined ? undefined : labelsOf(answer)
  return { kind: 'answered', json, answers, ...optionalMember('labels', labels) }
}

function newClassificationCounts(): number[] {
  return classifications.map(() => 0)
}
