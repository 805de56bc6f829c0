// One entry of a list: an address, a prefix, a range or an AS. As text for people, and as a key:
// equal entries have equal keys, which sort by address.
//
//   4c0000200c00002ff     192.0.2.0/24: family, first and last address
//   6 and 64 digits       the same of IPv6
//   a0000fbf0             AS64496
//
// IPv4-mapped text means the IPv4 entry (contract 3.9: strict addresses). A prefix with host bits
// is refused: it is mostly a typing error.

import { IpriskError } from '../base/coded-error.ts'
import type { ErrorCode } from '../base/error-codes.ts'
import { newAddressWords } from '../ip/address.ts'
import { EMBEDDED, embeddedKind } from '../ip/embedded-ipv4.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { formatRange, hasHostBits, parseRange, type Range } from '../ip/range.ts'
import { noteBytesMax, widestPrefix } from './list-limits.ts'

export interface ListEntry {
  readonly key: string
  /** Seconds since the epoch; 0 for never. */
  readonly expires: number
  /** Seconds since the epoch. */
  readonly added: number
  readonly note: string
}

const hexDigits = { 4: 8, 6: 32 } as const
const asnMax = 0xffff_ffff

/** Follows its quotation in a message. */
export interface EntryFault {
  readonly fault: string
  /** The key of the prefix, if host bits are the only fault. */
  readonly masked?: string
}

export function parseEntryKey(text: string): string | EntryFault {
  const [, digits] = /^as(\d{1,10})$/i.exec(text) ?? []
  if (digits !== undefined) {
    const asn = Number(digits)
    return asn >= 1 && asn <= asnMax ? keyOfAs(asn) : { fault: 'AS numbers are 1 to 4294967295' }
  }
  const single = keyOfAddress(text)
  if (single !== undefined) return single
  const range = parseRange(text)
  if (range === undefined) {
    const fault =
      'it is not an address, prefix (192.0.2.0/24), range (192.0.2.1-192.0.2.9) or AS (AS64496)'
    return { fault }
  }
  const key = keyOfRange(range)
  if (!text.includes('/') || !hasHostBits(text)) return key
  return { fault: `host bits are set; did you mean ${formatRange(range)}?`, masked: key }
}

const words = newAddressWords()

/** Without big integers, a file is read in half the time. */
function keyOfAddress(text: string): string | undefined {
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  const isMapped = family === 6 && embeddedKind(words) === EMBEDDED.mapped
  if (family === 4 || isMapped) {
    const value = hex(words[isMapped ? 3 : 0]!)
    return `4${value}${value}`
  }
  const value = hex(words[0]!) + hex(words[1]!) + hex(words[2]!) + hex(words[3]!)
  return `6${value}${value}`
}

export const hex = (word: number): string => word.toString(16).padStart(8, '0')

export function keyOfAs(asn: number): string {
  return `a${asn.toString(16).padStart(8, '0')}`
}

export function keyOfRange({ family, first, last }: Range): string {
  const digits = hexDigits[family]
  const text = (value: bigint): string => value.toString(16).padStart(digits, '0')
  return `${family}${text(first)}${text(last)}`
}

/** `undefined` for a range. */
export function asnOfKey(key: string): number | undefined {
  return key.startsWith('a') ? parseInt(key.slice(1), 16) : undefined
}

export function rangeOfKey(key: string): Range {
  const family = key.startsWith('4') ? 4 : 6
  const half = 1 + hexDigits[family]
  const value = (from: number, to?: number): bigint => BigInt(`0x${key.slice(from, to)}`)
  return { family, first: value(1, half), last: value(half) }
}

/** The inverse of `parseEntryKey`. */
export function formatEntryKey(key: string): string {
  const asn = asnOfKey(key)
  return asn === undefined ? formatRange(rangeOfKey(key)) : `AS${asn}`
}

export function isWide(key: string): boolean {
  if (key.startsWith('a')) return false
  const half = (key.length + 1) / 2
  // Equal first 20 bits: narrower than both limits.
  if (key.slice(1, 6) === key.slice(half, half + 5)) return false
  const { family, first, last } = rangeOfKey(key)
  const bits = (family === 4 ? 32 : 128) - widestPrefix[family]
  return last - first >= 1n << BigInt(bits)
}

const anyRange = 1n << 129n

/** IPv4 and IPv6 by their shares of all addresses; an AS is wider than any range. */
export function entrySize(key: string): bigint {
  if (key.startsWith('a')) return anyRange
  const { family, first, last } = rangeOfKey(key)
  return (last - first + 1n) << (family === 4 ? 96n : 0n)
}

export function noteFault(note: string): string | undefined {
  if (Buffer.byteLength(note) > noteBytesMax) return `a note has at most ${noteBytesMax} bytes`
  // eslint-disable-next-line no-control-regex -- these are what a note must not have
  if (/[\u0000-\u001f\u007f-\u009f]/.test(note))
    return 'a note cannot have line breaks or control characters'
  return undefined
}

export function listError(
  code: ErrorCode,
  message: string,
  details: readonly string[] = [],
): IpriskError {
  return new IpriskError({ code, message, details, fault: 'usage' })
}
