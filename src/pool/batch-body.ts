// The body of a batch (contract 3.16: batch) to pieces of about a hundred elements, and how many of
// them are addresses. `parseBatchBody` is the slow twin, by JSON.parse; the form that nearly every
// client sends, `{"ips":["…","…"]}` with any white space and no escapes, is read in the body's own
// bytes, which takes a tenth of the time, and its pieces are parts of the body.

import {
  type BatchFault,
  checkFault,
  faultRowJson,
  invalidAddressJson,
  invalidElementJson,
  policyFaults,
} from '../api/input-fault.ts'
import { batchAddressesMax } from '../api/public-port.ts'
import { type JsonObject, isJsonObject, parseJsonObject } from '../base/json-object.ts'
import { type Context, contextOf } from '../context/context.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress, parseAddressBytes } from '../ip/parse-address.ts'
import { pieceAddresses } from './offload-policy.ts'
import type { ItemResult } from './pool-task.ts'

type ReadResult = Extract<ItemResult, { kind: 'read' }>

const encoder = new TextEncoder()
const words = newAddressWords()

/** A name; null if the member is not a text, `undefined` if absent. */
type NamedPolicy = string | null | undefined

export interface AskedCheck {
  readonly ip: string
  /** `undefined` if the batch's own decides. */
  readonly policy?: string | undefined
  readonly context?: Context | undefined
}

export interface Batch {
  readonly member: 'ips' | 'checks'
  readonly policy: NamedPolicy
  /** What each element asks for, or its row if it is wrong. */
  readonly checks: readonly (AskedCheck | string)[]
  readonly valid: number
}

/**
 * The batch, or why the body is not one. `allowed`: the policies that an element of `checks`
 * (contract 6.10: checks) may name; `undefined` without policies, when names are ignored.
 */
export function parseBatchBody(body: Uint8Array, allowed?: readonly string[]): Batch | BatchFault {
  return parseBatchUpTo(Infinity, body, allowed)!
}

/** `undefined` for a batch of more than `elementsMax`, whose elements are not read. */
export function parseBatchUpTo(
  elementsMax: number,
  body: Uint8Array,
  allowed?: readonly string[],
): Batch | BatchFault | undefined {
  const object = parseJsonObject(body)
  if (typeof object === 'string') return object
  const elements = elementsIn(object)
  if (typeof elements === 'string') return elements
  if (elements.length > elementsMax) return undefined
  const member = Object.hasOwn(object, 'ips') ? 'ips' : 'checks'
  const asked = member === 'ips' ? askedAddress : askedCheck
  try {
    const checks = elements.map((element) => asked(element, allowed))
    const valid = checks.filter((check) => typeof check !== 'string').length
    return { member, policy: policyIn(object), checks, valid }
  } catch {
    // Arrays nested so deep that JSON.parse can read them and JSON.stringify cannot.
    return 'too_deep'
  }
}

function elementsIn(object: JsonObject): readonly unknown[] | BatchFault {
  const { checks, ips } = object
  const hasChecks = Object.hasOwn(object, 'checks')
  if (hasChecks && Object.hasOwn(object, 'ips')) return 'both'
  if (!hasChecks && !Object.hasOwn(object, 'ips')) {
    if (Object.hasOwn(object, 'ip')) return 'check'
    return Object.keys(object).length === 0 ? 'no_members' : 'other_member'
  }
  const elements = hasChecks ? checks : ips
  const prefix = hasChecks ? 'checks_' : ''
  if (!Array.isArray(elements)) return `${prefix}no_array`
  if (elements.length === 0) return `${prefix}none`
  return elements.length > batchAddressesMax ? `${prefix}too_many` : elements
}

function policyIn(object: JsonObject): NamedPolicy {
  if (!Object.hasOwn(object, 'policy')) return undefined
  const { policy } = object
  return typeof policy === 'string' ? policy : null
}

function askedAddress(ip: unknown): AskedCheck | string {
  if (typeof ip !== 'string') return invalidElementJson(ip)
  return parseAddress(ip, words) === 0 ? invalidAddressJson(ip) : { ip }
}

function askedCheck(element: unknown, allowed: readonly string[] | undefined): AskedCheck | string {
  const { ip, policy, context } = isJsonObject(element)
    ? { ip: element['ip'], policy: policyIn(element), context: contextOf(element) }
    : {}
  if (typeof ip !== 'string') return faultRowJson('', checkFault(element))
  if (parseAddress(ip, words) === 0) return faultRowJson(ip, checkFault(element))
  if (policy === undefined || allowed === undefined) return { ip, context }
  if (policy === null) return faultRowJson(ip, policyFaults.no_string)
  return allowed.includes(policy)
    ? { ip, policy, context }
    : faultRowJson(ip, policyFaults.not_allowed)
}

/** Cuts a body into pieces, which cross threads without a copy if it lies in shared memory. */
export function cutBatchBody(body: Uint8Array, allowed?: readonly string[]): ReadResult {
  return cutShortForm(body) ?? cutParsedBody(body, allowed)
}

function cutParsedBody(body: Uint8Array, allowed?: readonly string[]): ReadResult {
  const batch = parseBatchBody(body, allowed)
  if (typeof batch === 'string') return { ...noElements, fault: batch }
  const { member, checks, valid, policy } = batch
  const cuts = [0]
  const parts: string[] = []
  let bytes = 0
  for (let at = 0; at < checks.length; at += pieceAddresses) {
    // Without its brackets; the comma that would follow belongs to no piece.
    const part = JSON.stringify(checks.slice(at, at + pieceAddresses)).slice(1, -1)
    parts.push(part)
    bytes += Buffer.byteLength(part)
    cuts.push(bytes)
  }
  return {
    kind: 'read',
    fault: undefined,
    member,
    count: checks.length,
    valid,
    named: [
      ...new Set(checks.flatMap((one) => (typeof one === 'string' ? [] : (one.policy ?? [])))),
    ],
    cuts: Uint32Array.from(cuts),
    rewritten: encoder.encode(parts.join('')),
    policy,
  }
}

/** For the short form. */
const noElements = {
  kind: 'read',
  fault: undefined,
  member: 'ips',
  count: 0,
  valid: 0,
  named: [],
  cuts: new Uint32Array(0),
  rewritten: undefined,
} as const satisfies ReadResult

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
  return { ...noElements, count, valid, cuts }
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
