// Hot path: all but `queryText`, `parseIpWithJson` and `checkFaultOf`. No allocation, throw,
// closure or regular expression there.
// Reads the address from the body of a check (contract 3.11: errors and bodies): RFC 8259,
// unknown members ignored, the last `ip` if repeated. `parseCheckBody` reads the form that nearly
// every client sends in place, and leaves every other form to `parseIpWithJson`.

import { checkFault, checkFaults, type InputFault } from '../../api/input-fault.ts'
import { type JsonObject, parseJsonObject } from '../../base/json-object.ts'
import { type Context, contextOf } from '../../context/context.ts'
import { addressCharsMax } from '../../ip/parse-address.ts'
import { skipSpace } from '../../pool/batch-body.ts'
import { parseQuery, type Query } from '../../table/lookup/query.ts'

/** The last body's `policy` (a place in it, or a value of any type) and its context. */
interface BodyPolicy {
  from: number
  to: number
  value: unknown
  context: Context | undefined
}
const bodyPolicy: BodyPolicy = { from: -1, to: -1, value: undefined, context: undefined }

export function namesPolicy(): boolean {
  return bodyPolicy.from >= 0 || bodyPolicy.value !== undefined
}

/** Not hot. `body` is the one read last. */
export function bodyPolicyOf(body: Uint8Array): unknown {
  const { from, to, value } = bodyPolicy
  if (from < 0) return value
  return Buffer.from(body.buffer, body.byteOffset + from, to - from).toString('latin1')
}

/** From the body read last; `undefined` if it has none. */
export function bodyContextOf(): Context | undefined {
  return bodyPolicy.context
}

const ipBytes = new Uint8Array(addressCharsMax)

/**
 * Whether the body asks about an address, which is then in `query`; its bytes are valid until the
 * body goes or the next call.
 */
export function parseCheckBody(query: Query, body: Uint8Array): boolean {
  bodyPolicy.value = undefined
  bodyPolicy.context = undefined
  const from = findShortForm(body)
  if (from >= 0) return parseQuery(query, body, from, endOfText(body, from))
  return parseWithJson(query, body)
}

function parseWithJson(query: Query, body: Uint8Array): boolean {
  const object = parseJsonObject(body)
  if (typeof object === 'string') return false
  if (Object.hasOwn(object, 'policy')) bodyPolicy.value = object['policy']
  bodyPolicy.context = contextOf(object)
  const text = ipOf(object)
  return text !== undefined && parseAddressText(query, text)
}

/** Whether the text is an address, which is then in `query`. */
export function parseAddressText(query: Query, text: string): boolean {
  if (text.length > addressCharsMax) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) return false
    ipBytes[at] = code
  }
  return parseQuery(query, ipBytes, 0, text.length)
}

export function queryText({ bytes, from, to }: Query): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
}

/** The slow twin of the scan; `undefined` if the body is not a JSON object with a string `ip`. */
export function parseIpWithJson(body: Uint8Array): string | undefined {
  const object = parseJsonObject(body)
  return typeof object === 'string' ? undefined : ipOf(object)
}

function ipOf(object: JsonObject): string | undefined {
  if (!Object.hasOwn(object, 'ip')) return undefined
  const { ip } = object
  return typeof ip === 'string' ? ip : undefined
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Where the text begins in `{"ip":"…"}` or `{"ip":"…","policy":"…"}`, with white space between the
 * tokens and printable ASCII without escapes in it; -1 for everything else.
 */
export function findShortForm(body: Uint8Array): number {
  bodyPolicy.from = -1
  let at = skipSpace(body, 0)
  if (body[at] !== 0x7b) return -1
  at = skipSpace(body, at + 1)
  if (
    body[at] !== quote ||
    body[at + 1] !== 0x69 ||
    body[at + 2] !== 0x70 ||
    body[at + 3] !== quote
  ) {
    return -1
  }
  at = skipSpace(body, at + 4)
  if (body[at] !== 0x3a) return -1
  at = skipSpace(body, at + 1)
  if (body[at] !== quote) return -1
  const from = at + 1
  const to = endOfText(body, from)
  if (body[to] !== quote) return -1
  at = skipSpace(body, to + 1)
  if (body[at] === comma) at = skipPolicy(body, skipSpace(body, at + 1))
  if (at < 0 || body[at] !== 0x7d || skipSpace(body, at + 1) !== body.length) {
    bodyPolicy.from = -1
    return -1
  }
  return from
}

const policyLabel = new Uint8Array(Buffer.from('"policy"'))

/** The place after `policy`, whose value is noted; -1 for another member. */
function skipPolicy(body: Uint8Array, from: number): number {
  for (let i = 0; i < policyLabel.length; i++) {
    if (body[from + i] !== policyLabel[i]) return -1
  }
  let at = skipSpace(body, from + policyLabel.length)
  if (body[at] !== 0x3a) return -1
  at = skipSpace(body, at + 1)
  if (body[at] !== quote) return -1
  const end = endOfText(body, at + 1)
  if (body[end] !== quote) return -1
  bodyPolicy.from = at + 1
  bodyPolicy.to = end
  return skipSpace(body, end + 1)
}

/** The first place from `from` on that is not printable ASCII, or is a quote or backslash. */
function endOfText(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length) {
    const byte = body[at]!
    if (byte < 0x20 || byte > 0x7e || byte === quote || byte === backslash) return at
    at += 1
  }
  return at
}

/**
 * What is wrong with a refused body (contract 5.2: friendlier errors). JSON.parse reads it again:
 * only a wrong body takes longer.
 */
export function checkFaultOf(body: Uint8Array): InputFault {
  const object = parseJsonObject(body)
  return typeof object === 'string' ? checkFaults[object] : checkFault(object)
}
