// The body of a batch (contract 3.16) to pieces of about a hundred elements, and how many of them
// are addresses. `parseBatchBody` is the slow twin, by JSON.parse; the form that nearly every
// client sends, `{"ips":["…","…"]}` with any white space and no escapes, is read in the body's own
// bytes, which takes a tenth of the time, and its pieces are parts of the body.

import type { BatchFault } from '../api/input-fault.ts'
import { batchAddressesMax } from '../api/public-port.ts'
import { type JsonObject, parseJsonObject } from '../base/json-object.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress, parseAddressBytes } from '../ip/parse-address.ts'
import { pieceAddresses } from './offload-policy.ts'
import type { ItemResult } from './pool-task.ts'

type ReadResult = Extract<ItemResult, { kind: 'read' }>

const encoder = new TextEncoder()
const words = newAddressWords()

/** The elements of `ips`, or why the body is no batch. */
export function parseBatchBody(body: Uint8Array): readonly unknown[] | BatchFault {
  return ipsOf(parseJsonObject(body))
}

/** Its member `policy`; null where that is no text, `undefined` where there is none. */
export function batchPolicyOf(body: Uint8Array): string | null | undefined {
  return policyOf(parseJsonObject(body))
}

function policyOf(object: JsonObject | string): string | null | undefined {
  if (typeof object === 'string' || !Object.hasOwn(object, 'policy')) return undefined
  const { policy } = object
  return typeof policy === 'string' ? policy : null
}

function ipsOf(object: ReturnType<typeof parseJsonObject>): readonly unknown[] | BatchFault {
  if (typeof object === 'string') return object
  if (!Object.hasOwn(object, 'ips')) return faultWithoutIps(object)
  const { ips } = object
  if (!Array.isArray(ips)) return 'no_array'
  if (ips.length === 0) return 'none'
  return ips.length > batchAddressesMax ? 'too_many' : (ips as readonly unknown[])
}

function faultWithoutIps(object: JsonObject): BatchFault {
  if (Object.hasOwn(object, 'ip')) return 'check'
  return Object.keys(object).length === 0 ? 'no_members' : 'other_member'
}

export function countAddresses(texts: readonly unknown[]): number {
  let valid = 0
  for (const text of texts) {
    if (typeof text === 'string' && parseAddress(text, words) !== 0) valid += 1
  }
  return valid
}

/** Cuts a body into pieces, which cross threads without a copy where it lies in shared memory. */
export function cutBatchBody(body: Uint8Array): ReadResult {
  return cutShortForm(body) ?? cutParsedBody(body)
}

/** The slow twin. */
function cutParsedBody(body: Uint8Array): ReadResult {
  const object = parseJsonObject(body)
  const texts = ipsOf(object)
  if (typeof texts === 'string') return noBatch(texts)
  const parts = partsOf(texts)
  if (parts === undefined) return noBatch('too_deep')
  const cuts = [0]
  let bytes = 0
  for (const part of parts) {
    bytes += Buffer.byteLength(part)
    cuts.push(bytes)
  }
  const rewritten = encoder.encode(parts.join(''))
  return {
    kind: 'read',
    fault: undefined,
    count: texts.length,
    valid: countAddresses(texts),
    cuts: Uint32Array.from(cuts),
    rewritten,
    policy: policyOf(object),
  }
}

/**
 * `undefined` for arrays so deep in arrays that JSON.parse can read them and JSON.stringify cannot.
 */
function partsOf(texts: readonly unknown[]): readonly string[] | undefined {
  const parts: string[] = []
  try {
    for (let at = 0; at < texts.length; at += pieceAddresses) {
      // Without its brackets; the comma that would follow belongs to no piece.
      parts.push(JSON.stringify(texts.slice(at, at + pieceAddresses)).slice(1, -1))
    }
  } catch {
    return undefined
  }
  return parts
}

const noCuts = new Uint32Array(0)

function noBatch(fault: BatchFault): ReadResult {
  return { kind: 'read', fault, count: 0, valid: 0, cuts: noCuts, rewritten: undefined }
}

const cutsBuffer = new Uint32Array(batchAddressesMax / pieceAddresses + 1)

const quote = 0x22
const comma = 0x2c
const ips = encoder.encode('"ips"')

/** `undefined` for every other form, right or wrong. */
export function cutShortForm(body: Uint8Array): ReadResult | undefined {
  let at = skipSpace(body, 0)
  if (body[at] !== 0x7b) return undefined
  at = skipSpace(body, at + 1)
  for (const byte of ips) if (body[at++] !== byte) return undefined
  at = skipSpace(body, at)
  if (body[at] !== 0x3a) return undefined
  at = skipSpace(body, at + 1)
  if (body[at] !== 0x5b) return undefined
  let count = 0
  let valid = 0
  let pieces = 0
  do {
    at = skipSpace(body, at + 1)
    if (count === batchAddressesMax) return undefined
    if (count % pieceAddresses === 0) cutsBuffer[pieces++] = at
    const end = textEnd(body, at)
    if (end < 0) return undefined
    if (parseAddressBytes(body, at + 1, end, words) !== 0) valid += 1
    count += 1
    at = skipSpace(body, end + 1)
  } while (body[at] === comma)
  if (body[at] !== 0x5d) return undefined
  cutsBuffer[pieces] = at
  at = skipSpace(body, at + 1)
  if (body[at] !== 0x7d || skipSpace(body, at + 1) !== body.length) return undefined
  const cuts = cutsBuffer.slice(0, pieces + 1)
  return { kind: 'read', fault: undefined, count, valid, cuts, rewritten: undefined }
}

/** The closing quote of the text whose opening quote is at `at`; -1 where it has another form. */
export function textEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return -1
  for (let end = at + 1; end < bytes.length; end++) {
    const byte = bytes[end]!
    if (byte === quote) return end
    if (byte < 0x20 || byte > 0x7e || byte === 0x5c) return -1
  }
  return -1
}

/** The white space of RFC 8259, and no other. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]!
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at
    at += 1
  }
  return at
}

// Memory that a worker and its threads share: answers to batches come back in it. (Bodies of
// batches go to the threads in such memory, too, which src/http/exchange/body-budget.ts lends.)
// Nothing is copied between them, and the worker's heap gets no new buffers, whose collection would
// halt its checks for tens of milliseconds (bench/speed/pool.ts).
//
// Invariant: a buffer has one user at a time, who returns it when no thread can still write to it,
// or drops it.

/** The answers of a piece take about 70 KB; longer ones come back in a buffer of their own. */
const sharedBufferBytes = 1 << 17

/** 8 MB are kept for the next batches; a buffer beyond that is dropped. */
const freeBuffersMax = 64

const freeBuffers: Uint8Array[] = []

export function takeSharedBuffer(): Uint8Array {
  return freeBuffers.pop() ?? new Uint8Array(new SharedArrayBuffer(sharedBufferBytes))
}

export function returnSharedBuffer(buffer: Uint8Array): void {
  if (freeBuffers.length < freeBuffersMax) freeBuffers.push(buffer)
}
