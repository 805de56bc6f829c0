// The work itself, in a pool thread or, where it is small, in the worker: bodies of batches read,
// pieces of them answered, insights. Nothing here knows of threads.

import { isUtf8 } from 'node:buffer'
import { batchAddressesMax } from '../api/batch.ts'
import { invalidAddress } from '../api/error.ts'
import { newWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse.ts'
import { classifications } from '../model/kind.ts'
import { ask, newAsked } from '../table/asked.ts'
import { explain } from '../table/insights.ts'
import type { OpenTable } from '../table/open.ts'
import { pieceAddresses } from './place.ts'
import type { ItemResult } from './task.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const words = newWords()

/** The elements of `ips`; `undefined` where the body is no batch. */
export function readBatch(body: Uint8Array): readonly unknown[] | undefined {
  if (!isUtf8(body)) return undefined
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(body))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (!Object.hasOwn(value, 'ips')) return undefined
  const { ips } = value as { readonly ips: unknown }
  if (!Array.isArray(ips) || ips.length === 0 || ips.length > batchAddressesMax) return undefined
  return ips as readonly unknown[]
}

export function countAddresses(texts: readonly unknown[]): number {
  let valid = 0
  for (const text of texts) {
    if (typeof text === 'string' && parseAddress(text, words) !== 0) valid += 1
  }
  return valid
}

/** A body as pieces that `answerPiece` takes, each on its way alone. */
export function cutBatch(body: Uint8Array): Extract<ItemResult, { kind: 'read' }> {
  const texts = readBatch(body)
  if (texts === undefined) return { kind: 'read', count: 0, valid: 0, pieces: [] }
  const pieces: Uint8Array[] = []
  for (let at = 0; at < texts.length; at += pieceAddresses) {
    pieces.push(encoder.encode(JSON.stringify(texts.slice(at, at + pieceAddresses))))
  }
  return { kind: 'read', count: texts.length, valid: countAddresses(texts), pieces }
}

type Answered = Extract<ItemResult, { kind: 'answered' }>

/** What the work asks of a table. */
type Answering = Pick<OpenTable, 'answer'>

const comma = 0x2c
const quote = 0x22
const backslash = 0x5c
const bracket = 0x5b

const asked = newAsked()
/** Grows to the largest piece; what leaves is copied. */
let out = new Uint8Array(1 << 16)

/** A piece as `cutBatch` made it; its texts go from bytes to bytes. */
export function answerPiece(table: Answering, piece: Uint8Array): Answered {
  return answerPlainly(table, piece) ?? answerTexts(table, parsePiece(piece))
}

/**
 * `["…","…"]` without escapes, the form of every piece of addresses; `undefined` for any other, of
 * which JSON.parse knows more.
 */
function answerPlainly(table: Answering, piece: Uint8Array): Answered | undefined {
  const answers = newAnswers()
  let bytes = 0
  let at = 0
  while (piece[at] === (at === 0 ? bracket : comma)) {
    if (piece[at + 1] !== quote) return undefined
    const from = at + 2
    let to = from
    while (piece[to] !== quote) {
      if (to === piece.length || piece[to] === backslash) return undefined
      to += 1
    }
    if (at > 0) bytes = put(bytes, commaBytes)
    bytes = ask(asked, piece, from, to)
      ? putAnswer(table, bytes, answers)
      : put(bytes, failure(decoder.decode(piece.subarray(from, to))))
    at = to + 1
  }
  return { kind: 'answered', json: out.slice(0, bytes), answers }
}

/** The results of some elements of a batch, commas between them, byte for byte as single checks. */
export function answerTexts(table: Answering, texts: readonly unknown[]): Answered {
  const answers = newAnswers()
  let bytes = 0
  texts.forEach((text, index) => {
    if (index > 0) bytes = put(bytes, commaBytes)
    const sent = typeof text === 'string' ? encoder.encode(text) : undefined
    if (sent !== undefined && ask(asked, sent, 0, sent.length)) {
      bytes = putAnswer(table, bytes, answers)
    } else {
      // What is no text at all is told apart by its JSON.
      bytes = put(bytes, failure(typeof text === 'string' ? text : JSON.stringify(text)))
    }
  })
  return { kind: 'answered', json: out.slice(0, bytes), answers }
}

const commaBytes = encoder.encode(',')

function parsePiece(piece: Uint8Array): readonly unknown[] {
  return JSON.parse(decoder.decode(piece)) as readonly unknown[]
}

function failure(ip: string): Uint8Array {
  return encoder.encode(JSON.stringify({ ip, error: invalidAddress }))
}

function putAnswer(table: Answering, bytes: number, answers: number[]): number {
  const { classification, body } = table.answer(asked)
  answers[classifications.indexOf(classification)]! += 1
  return put(bytes, body)
}

function put(at: number, part: Uint8Array): number {
  const end = at + part.length
  if (end > out.length) {
    const larger = new Uint8Array(end * 2)
    larger.set(out)
    out = larger
  }
  out.set(part, at)
  return end
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
