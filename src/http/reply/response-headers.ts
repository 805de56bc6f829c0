// Hot path: no allocation, throw, closure or making of a string but in `newHeaderBuffer`,
// `writePrefix`, `changePolicy` and `putAscii`.
//
// The headers of a 200 to a check as bytes: the value of content-type and behind it, with our own line
// ends, all that the answer says besides. They are written into an array that is kept, so that what
// the last answer said too, which is nearly all, is there already; no string is made of the numbers
// and none is encoded. `contentHeaders` and ratelimit-headers.ts say the same as text and are the slow twin.
// Never may a client's text stand here.
//
//   application/json ⏎ cache-control: no-store ⏎ x-request-id: prefix number ⏎ ratelimit-policy: …
//   └ written once ────────────────────────────────────────────┘ └ each time   └ for another policy
//   ⏎ ratelimit: "rate";r=99;t=1, "quota";r=999999;t=864000
//     └ each time the digits that have changed, all of it where a number has become longer or shorter
//
// Invariant: what `headBytes` returns is good until its next call.

import { remainingIndex, remainingLength } from '../../account/limits/ratelimit-values.ts'
import { utf8Bytes, writeBytes, writeInteger } from '../../table/answer/write-bytes.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { requestIdDigits, putRequestIdNumber } from '../exchange/request-id.ts'

/** The value of content-type, and what all answers say behind it. */
export const contentHeaders = 'application/json\r\ncache-control: no-store'

const bytesMax = 1024
const zero = 0x30
const idLabel = '\r\nx-request-id: '
const policyLabel = '\r\nratelimit-policy: '
const remainingLabel = '\r\nratelimit: '
const rateLabel = utf8Bytes('"rate";r=')
const resetLabel = utf8Bytes(';t=')
const separator = utf8Bytes(', ')
const quotaLabel = utf8Bytes('"quota";r=')

/** The array, and what is written in it. */
interface HeaderBuffer {
  readonly out: Uint8Array
  /** By length: the first bytes of `out`. */
  readonly values: (Uint8Array | undefined)[]
  /** With an id of ours, after this prefix; `undefined` before the first one. */
  prefix: string | undefined
  /** Place of the id's number. */
  idAt: number
  policy: string
  /** Place of the policy's label. */
  policyAt: number
  /** Place behind the label of what remains. */
  remainingAt: number
  /** By `remainingAt`: the number that stands there, and the place behind it. */
  readonly numbers: Float64Array
  readonly ends: Uint16Array
  /** Numbers from here to below there are as long as the one that stands there. */
  readonly shortest: Float64Array
  readonly beyond: Float64Array
  /** Place behind all that remains. */
  end: number
}

function newHeaderBuffer(): HeaderBuffer {
  return {
    out: new Uint8Array(bytesMax),
    values: Array.from({ length: bytesMax + 1 }, () => undefined),
    prefix: undefined,
    idAt: 0,
    policy: '',
    policyAt: 0,
    remainingAt: 0,
    numbers: new Float64Array(remainingLength),
    ends: new Uint16Array(remainingLength),
    shortest: new Float64Array(remainingLength),
    beyond: new Float64Array(remainingLength),
    end: 0,
  }
}

const ownIdHeaders = newHeaderBuffer()
/** The client's id goes out in a header of its own. */
const clientIdHeaders = newHeaderBuffer()
const remaining = new Float64Array(remainingLength)

/** All headers of a 200 but a request id that is the client's; limits as of `nowMs`. */
export function responseHeaderBytes(exchange: Exchange, nowMs: number): Uint8Array {
  const { clientRequestId, requestIdNumber, key, service } = exchange
  const { limiter, requestIds } = service
  const head = clientRequestId === '' ? ownIdHeaders : clientIdHeaders
  const { out } = head
  if (head.prefix !== requestIds.prefix) writePrefix(head, requestIds.prefix)
  if (clientRequestId === '') putRequestIdNumber(out, head.idAt, requestIdNumber)
  const policy = key === undefined ? '' : limiter.policy(key.allowance)
  if (key === undefined || policy === '') return valueOf(head, head.policyAt)
  if (head.policy !== policy) changePolicy(head, policy)
  limiter.remaining(key.allowance, nowMs, remaining)
  if (isAsLong(head)) for (let i = 0; i < remainingLength; i++) overwriteNumber(head, i)
  else putRemaining(head)
  return valueOf(head, head.end)
}

function valueOf(head: HeaderBuffer, length: number): Uint8Array {
  const known = head.values[length]
  if (known !== undefined) return known
  const value = head.out.subarray(0, length)
  head.values[length] = value
  return value
}

/** Whether every number that remains is as long as the one that stands there. */
function isAsLong({ shortest, beyond }: HeaderBuffer): boolean {
  for (let i = 0; i < remainingLength; i++) {
    const number = remaining[i]!
    if (number < shortest[i]! || number >= beyond[i]!) return false
  }
  return true
}

/** Writes a number over one that is as long, up to the first digits that both have. */
function overwriteNumber({ out, numbers, ends }: HeaderBuffer, i: number): void {
  let before = numbers[i]!
  let rest = remaining[i]!
  numbers[i] = rest
  for (let at = ends[i]! - 1; rest !== before; at--) {
    const next = Math.floor(rest / 10)
    out[at] = zero + (rest - next * 10)
    rest = next
    before = Math.floor(before / 10)
  }
}

/** `remainingText` as bytes; there is a rate or a quota, for there is a policy. */
function putRemaining(head: HeaderBuffer): void {
  const { out } = head
  const { rate, rateReset, quota, quotaReset } = remainingIndex
  // What is not put: -1.
  head.numbers.fill(-1)
  head.shortest.fill(-1)
  head.beyond.fill(0)
  let at = head.remainingAt
  if (remaining[rate]! >= 0) {
    at = putNumberAt(head, rate, writeBytes(out, at, rateLabel))
    at = putNumberAt(head, rateReset, writeBytes(out, at, resetLabel))
    if (remaining[quota]! >= 0) at = writeBytes(out, at, separator)
  }
  if (remaining[quota]! >= 0) {
    at = putNumberAt(head, quota, writeBytes(out, at, quotaLabel))
    at = putNumberAt(head, quotaReset, writeBytes(out, at, resetLabel))
  }
  head.end = at
}

function putNumberAt(head: HeaderBuffer, i: number, from: number): number {
  const number = remaining[i]!
  const end = writeInteger(head.out, from, number)
  head.numbers[i] = number
  head.ends[i] = end
  head.beyond[i] = 10 ** (end - from)
  head.shortest[i] = end - from === 1 ? 0 : 10 ** (end - from - 1)
  return end
}

/** Not hot: once a process. */
function writePrefix(head: HeaderBuffer, prefix: string): void {
  const { out } = head
  head.prefix = prefix
  head.idAt = putAscii(out, 0, contentHeaders)
  if (head === ownIdHeaders) head.idAt = putAscii(out, head.idAt, idLabel + prefix)
  head.policyAt = head === ownIdHeaders ? head.idAt + requestIdDigits : head.idAt
  head.policy = ''
}

/** Where another policy preceded. */
function changePolicy(head: HeaderBuffer, policy: string): void {
  const { out } = head
  const at = putAscii(out, putAscii(out, head.policyAt, policyLabel), policy)
  head.remainingAt = putAscii(out, at, remainingLabel)
  head.policy = policy
  // Nothing is as long as what does not stand there yet.
  head.shortest.fill(Infinity)
}

function putAscii(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i)
  return at + text.length
}
