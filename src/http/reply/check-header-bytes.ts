// Hot path: no allocation, throw, closure or making of a string but in `newHeaderBuffer`,
// `writePrefix`, `changePolicy` and `writeAscii`.
//
// The headers of a 200 to a check as bytes: the value of content-type and after it, with our own
// line ends, all other headers. The array keeps the answer before, so nearly all of it is there
// already. `contentHeaders`, `keepAliveHeader` and ratelimit-and-retry-after.ts are the slow twin.
// Only answers that keep their connection are written so. Client text must never be here.
//
//   application/json ⏎ cache-control: … ⏎ keep-alive: … ⏎ x-request-id: prefix number ⏎ …-policy: …
//   └ written once ───────────────────────────────────────────────────────┘ └ each time └ for another
//   ⏎ ratelimit: "rate";r=99;t=1, "quota";r=999999;t=864000
//     └ each time the changed digits; all of it where a number has become longer or shorter
//
// Invariant: what `checkHeaderBytes` returns is good until its next call.

import { remainingIndex, remainingLength } from '../../account/limits/ratelimit-values.ts'
import { utf8Bytes, writeBytes, writeInteger } from '../../table/answer/write-bytes.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { requestIdDigits, writeRequestIdNumber } from '../exchange/request-id.ts'

/** The value of content-type, and what all answers have after it. */
export const contentHeaders = 'application/json\r\ncache-control: no-store'

/**
 * Shorter than the ten seconds after which uWebSockets.js ends an idle connection, and than the six
 * of a drain (`rollingLingerMs`): no client reuses a connection that is about to close.
 */
export const keepAliveHeader = '\r\nkeep-alive: timeout=5'

const bytesMax = 1024
const zero = 0x30
const idLabel = '\r\nx-request-id: '
const policyLabel = '\r\nratelimit-policy: '
const remainingLabel = '\r\nratelimit: '
const rateLabel = utf8Bytes('"rate";r=')
const resetLabel = utf8Bytes(';t=')
const separator = utf8Bytes(', ')
const quotaLabel = utf8Bytes('"quota";r=')

type HeaderBuffer = ReturnType<typeof newHeaderBuffer>

function newHeaderBuffer() {
  return {
    out: new Uint8Array(bytesMax),
    /** Keyed by length: the first bytes of `out`. */
    values: Array.from({ length: bytesMax + 1 }, (): Uint8Array | undefined => undefined),
    /** With an id of ours, after this prefix; `undefined` before the first one. */
    prefix: undefined as string | undefined,
    idAt: 0,
    policy: '',
    policyAt: 0,
    /** Place behind the label of what remains. */
    remainingAt: 0,
    /** Keyed by `remainingIndex`: the number there, and the position after it. */
    numbers: new Float64Array(remainingLength),
    ends: new Uint16Array(remainingLength),
    /** Numbers from `shortest` to below `beyond` are as long as the one there. */
    shortest: new Float64Array(remainingLength),
    beyond: new Float64Array(remainingLength),
    end: 0,
  }
}

const ownIdHeaders = newHeaderBuffer()
const clientIdHeaders = newHeaderBuffer()
const remaining = new Float64Array(remainingLength)

/** Except a client's own request id; limits as of `nowMs`. */
export function checkHeaderBytes(exchange: Exchange, nowMs: number): Uint8Array {
  const { clientRequestId, requestIdNumber, key, service } = exchange
  const { limiter, requestIds } = service
  const buffer = clientRequestId === '' ? ownIdHeaders : clientIdHeaders
  const { out } = buffer
  if (buffer.prefix !== requestIds.prefix) writePrefix(buffer, requestIds.prefix)
  if (clientRequestId === '') writeRequestIdNumber(out, buffer.idAt, requestIdNumber)
  const policy = key === undefined ? '' : limiter.policy(key.allowance)
  if (key === undefined || policy === '') return valueOf(buffer, buffer.policyAt)
  if (buffer.policy !== policy) changePolicy(buffer, policy)
  limiter.remaining(key.allowance, nowMs, remaining)
  if (isAsLong(buffer)) for (let i = 0; i < remainingLength; i++) overwriteNumber(buffer, i)
  else writeRemaining(buffer)
  return valueOf(buffer, buffer.end)
}

function valueOf(buffer: HeaderBuffer, length: number): Uint8Array {
  const known = buffer.values[length]
  if (known !== undefined) return known
  const value = buffer.out.subarray(0, length)
  buffer.values[length] = value
  return value
}

/** Whether every number that remains is as long as the one there. */
function isAsLong({ shortest, beyond }: HeaderBuffer): boolean {
  for (let i = 0; i < remainingLength; i++) {
    const number = remaining[i]!
    if (number < shortest[i]! || number >= beyond[i]!) return false
  }
  return true
}

/** Writes a number over one that is as long, from its end to the first digits that agree. */
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

/** `rateLimitValue` as bytes; a policy exists, so there is a rate or a quota. */
function writeRemaining(buffer: HeaderBuffer): void {
  const { out } = buffer
  const { rate, rateReset, quota, quotaReset } = remainingIndex
  // Numbers that are not written: -1.
  buffer.numbers.fill(-1)
  buffer.shortest.fill(-1)
  buffer.beyond.fill(0)
  let at = buffer.remainingAt
  if (remaining[rate]! >= 0) {
    at = writeNumberAt(buffer, rate, writeBytes(out, at, rateLabel))
    at = writeNumberAt(buffer, rateReset, writeBytes(out, at, resetLabel))
    if (remaining[quota]! >= 0) at = writeBytes(out, at, separator)
  }
  if (remaining[quota]! >= 0) {
    at = writeNumberAt(buffer, quota, writeBytes(out, at, quotaLabel))
    at = writeNumberAt(buffer, quotaReset, writeBytes(out, at, resetLabel))
  }
  buffer.end = at
}

function writeNumberAt(buffer: HeaderBuffer, i: number, from: number): number {
  const number = remaining[i]!
  const end = writeInteger(buffer.out, from, number)
  buffer.numbers[i] = number
  buffer.ends[i] = end
  buffer.beyond[i] = 10 ** (end - from)
  buffer.shortest[i] = end - from === 1 ? 0 : 10 ** (end - from - 1)
  return end
}

/** Not hot. */
function writePrefix(buffer: HeaderBuffer, prefix: string): void {
  const { out } = buffer
  buffer.prefix = prefix
  buffer.idAt = writeAscii(out, 0, contentHeaders + keepAliveHeader)
  if (buffer === ownIdHeaders) buffer.idAt = writeAscii(out, buffer.idAt, idLabel + prefix)
  buffer.policyAt = buffer === ownIdHeaders ? buffer.idAt + requestIdDigits : buffer.idAt
  buffer.policy = ''
}

/** If it is another one. */
function changePolicy(buffer: HeaderBuffer, policy: string): void {
  const { out } = buffer
  const at = writeAscii(out, writeAscii(out, buffer.policyAt, policyLabel), policy)
  buffer.remainingAt = writeAscii(out, at, remainingLabel)
  buffer.policy = policy
  // No number has its place yet: all of them are rewritten.
  buffer.shortest.fill(Infinity)
}

function writeAscii(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i)
  return at + text.length
}
