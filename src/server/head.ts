// Hot path: `headBytes`. Forbidden there: allocation, throw, closure, making a string.
//
// The headers of a 200 to a check as bytes: the value of content-type and behind it, with our own line
// ends, all that the answer says besides. They are written into an array that is kept, so that what
// the last answer said too, which is nearly all, is there already; no string is made of the numbers
// and none is encoded. `contentHeaders` and limit.ts say the same as text and are the slow twin.
// Never may a client's text stand here.
//
//   application/json ⏎ cache-control: no-store ⏎ x-request-id: prefix number ⏎ ratelimit-policy: …
//   └ written once ────────────────────────────────────────────┘ └ each time   └ for another policy
//   ⏎ ratelimit: "rate";r=99;t=1, "quota";r=999999;t=864000
//     └ each time
//
// Invariant: what `headBytes` returns is good until its next call.

import { remainingAt, remainingLength } from '../account/header.ts'
import { bytesOf, putBytes, putWhole } from '../table/put.ts'
import type { Exchange } from './exchange.ts'
import { numberDigits, putNumber } from './requestid.ts'

/** The value of content-type, and what all answers say behind it. */
export const contentHeaders = 'application/json\r\ncache-control: no-store'

const bytesMax = 1024
const idLabel = '\r\nx-request-id: '
const policyLabel = '\r\nratelimit-policy: '
const remainingLabel = '\r\nratelimit: '
const rateLabel = bytesOf('"rate";r=')
const resetLabel = bytesOf(';t=')
const separator = bytesOf(', ')
const quotaLabel = bytesOf('"quota";r=')

/** The array, and what is written in it. */
interface Head {
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
}

function newHead(): Head {
  return {
    out: new Uint8Array(bytesMax),
    values: Array.from({ length: bytesMax + 1 }, () => undefined),
    prefix: undefined,
    idAt: 0,
    policy: '',
    policyAt: 0,
    remainingAt: 0,
  }
}

const own = newHead()
/** The client's id goes out in a header of its own. */
const others = newHead()
const remaining = new Float64Array(remainingLength)

/** All headers of a 200 but a request id that is the client's; limits as of `nowMs`. */
export function headBytes(exchange: Exchange, nowMs: number): Uint8Array {
  const { clientId, idNumber, key, service } = exchange
  const { limiter, requestIds } = service
  const head = clientId === '' ? own : others
  const { out } = head
  if (head.prefix !== requestIds.prefix) begin(head, requestIds.prefix)
  if (clientId === '') putNumber(out, head.idAt, idNumber)
  const policy = key === undefined ? '' : limiter.policy(key.allowance)
  if (key === undefined || policy === '') return valueOf(head, head.policyAt)
  if (head.policy !== policy) changePolicy(head, policy)
  limiter.remaining(key.allowance, nowMs, remaining)
  return valueOf(head, putRemaining(out, head.remainingAt))
}

function valueOf(head: Head, length: number): Uint8Array {
  const known = head.values[length]
  if (known !== undefined) return known
  const value = head.out.subarray(0, length)
  head.values[length] = value
  return value
}

/** `remainingText` as bytes; there is a rate or a quota, for there is a policy. */
function putRemaining(out: Uint8Array, from: number): number {
  const rate = remaining[remainingAt.rate]!
  const quota = remaining[remainingAt.quota]!
  let at = from
  if (rate >= 0) {
    at = putWhole(out, putBytes(out, at, rateLabel), rate)
    at = putWhole(out, putBytes(out, at, resetLabel), remaining[remainingAt.rateReset]!)
    if (quota >= 0) at = putBytes(out, at, separator)
  }
  if (quota >= 0) {
    at = putWhole(out, putBytes(out, at, quotaLabel), quota)
    at = putWhole(out, putBytes(out, at, resetLabel), remaining[remainingAt.quotaReset]!)
  }
  return at
}

/** Not hot: once a process. */
function begin(head: Head, prefix: string): void {
  const { out } = head
  head.prefix = prefix
  head.idAt = putAscii(out, 0, contentHeaders)
  if (head === own) head.idAt = putAscii(out, head.idAt, idLabel + prefix)
  head.policyAt = head === own ? head.idAt + numberDigits : head.idAt
  head.policy = ''
}

/** Where another policy preceded. */
function changePolicy(head: Head, policy: string): void {
  const { out } = head
  const at = putAscii(out, putAscii(out, head.policyAt, policyLabel), policy)
  head.remainingAt = putAscii(out, at, remainingLabel)
  head.policy = policy
}

function putAscii(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[at + i] = text.charCodeAt(i)
  return at + text.length
}
