// An outcome: how an address turned out, as reported by a caller (contract 5.6: feedback). Read
// from the rows of a request or a file, with the place of the first mistake; written as a line.
// Invariant: `address` is the canonical text of what a check judges, so equal addresses are
// equal texts, however they were sent.

import { addressFaultText } from '../api/input-fault.ts'
import { parseJsonObject } from '../base/json-object.ts'
import { parseInstant } from '../base/time-text.ts'
import { newAddressWords } from '../ip/address.ts'
import { EMBEDDED, embeddedKind } from '../ip/embedded-ipv4.ts'
import { innermostAddress, mentionsAddress } from '../ip/embedded-text.ts'
import { formatAddress, formatIpv4 } from '../ip/format-address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { type OutcomeWord, outcomeWords } from '../model/kind.ts'

/** Per request: what a worker's loop reads in a millisecond or two. */
export const outcomesMax = 1000
/** Like that of a list entry: a ticket's number and some words. */
const noteBytesMax = 200
/** For the file of a day: some two million outcomes. Any more are refused. */
export const dayBytesMax = 268_435_456
/** Per key, so that no key uses the storage of all: half a million outcomes. */
export const keyDayBytesMax = dayBytesMax / 4
/** For a file that `feedback import` reads. */
export const importBytesMax = 268_435_456

export interface Outcome {
  readonly address: string
  readonly outcome: OutcomeWord
  /** When it was observed, milliseconds since the epoch. */
  readonly atMs: number
  readonly note: string
  /** The caller's request: outcomes with the same one count once (contract 6.11: own lists). */
  readonly requestId?: string | undefined
}

interface OutcomeFault {
  readonly message: string
  /** The row's fault. */
  readonly member: '' | 'ip' | 'outcome' | 'at' | 'note' | 'request_id'
}

const requestIdForm = /^[\w.-]{1,64}$/

/** Clocks differ. */
const aheadMsMax = 300_000
const words = newAddressWords()

/** The text by which an address is known here; `undefined` for an invalid one. */
export function canonicalAddress(text: string): string | undefined {
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  if (family === 6 && embeddedKind(words) === EMBEDDED.mapped) return formatIpv4(words[3]!)
  return formatAddress(family, words)
}

/** `nowMs` is the default of `at`. */
export function readOutcome(row: unknown, nowMs: number): Outcome | OutcomeFault {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    return { message: 'Not an object: send {"ip", "outcome"}.', member: '' }
  }
  const { ip, outcome, at, note = '', ...rest } = row as Readonly<Record<string, unknown>>
  const { request_id: id } = rest
  if (typeof ip !== 'string') return { message: 'Must be a string.', member: 'ip' }
  const address = canonicalAddress(ip)
  if (address === undefined) return { message: addressFaultText(ip), member: 'ip' }
  const known = outcomeWords.find((word) => word === outcome)
  if (known === undefined) {
    return { message: `Must be one of ${outcomeWords.join(', ')}.`, member: 'outcome' }
  }
  const atMs = at === undefined ? nowMs : typeof at === 'string' ? parseInstant(at) : undefined
  if (atMs === undefined || atMs < 0 || atMs > nowMs + aheadMsMax) {
    const message = 'Must be a time in the past, such as 2026-08-22T12:00:00Z.'
    return { message, member: 'at' }
  }
  if (typeof note !== 'string' || Buffer.byteLength(note) > noteBytesMax) {
    return { message: `Must be a string of at most ${noteBytesMax} bytes.`, member: 'note' }
  }
  if (id !== undefined && (typeof id !== 'string' || !requestIdForm.test(id))) {
    const message = 'Must be 1 to 64 letters, digits, dots, dashes and underscores.'
    return { message, member: 'request_id' }
  }
  // A time from a fast clock is clamped to now; otherwise it would outvote what follows.
  return { address, outcome: known, atMs: Math.min(atMs, nowMs), note, requestId: id }
}

/**
 * A line of a day's file, with its end. The address comes first: `erase` looks for it, even if the
 * line is truncated. The key comes last: its share of the day is counted by it.
 */
export function outcomeLine(
  { address, outcome, atMs, note, requestId }: Outcome,
  { keyId, receivedMs }: { readonly keyId: string; readonly receivedMs: number },
): string {
  const line = {
    ip: address,
    outcome,
    at: new Date(atMs).toISOString(),
    ...(note === '' ? {} : { note }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
    received: new Date(receivedMs).toISOString(),
    key_id: keyId,
  }
  return `${JSON.stringify(line)}\n`
}

/** The key of a line; `undefined` for an incomplete line. */
export function keyOfLine(line: string): string | undefined {
  return /"key_id":"([^"]*)"\}\s*$/.exec(line)?.[1]
}

/**
 * A line without its facts about an innermost address in any form: all of it for a line about the
 * address, note and request id for one that only mentions it. `undefined` if there is nothing.
 */
export function erasedLine(
  line: string,
  address: string,
): { readonly what: 'outcomes' | 'notes'; readonly line: string } | undefined {
  const about = /^\{"ip":"([^"]+)"/.exec(line)?.[1]
  const all = { what: 'outcomes', line: '' } as const
  if (about !== undefined && innermostAddress(about) === address) return all
  // Only these two members are the caller's own words.
  const isPlain = about !== undefined && line.endsWith('}') && !/"(?:note|request_id)":/.test(line)
  if (isPlain || !mentionsAddress(line, address)) return undefined
  const row = parseJsonObject(Buffer.from(line))
  if (typeof row === 'string' || !('note' in row || 'request_id' in row)) return all
  const { note: _, request_id: __, ...rest } = row
  return { what: 'notes', line: JSON.stringify(rest) }
}
