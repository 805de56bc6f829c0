// Ranges: inclusive first to last of one family, as bigints. Not for the hot path.
//
// Invariants: 0 <= first <= last <= maxAddress(family), and no IPv6 range is inside ::ffff:0:0/96,
// since such text means the IPv4 range.

import { newAddressWords } from './address.ts'
import type { Family } from './address.ts'
import { parseAddress } from './parse-address.ts'
import { formatAddress } from './format-address.ts'

export interface Range {
  readonly family: Family
  readonly first: bigint
  readonly last: bigint
}

const MAX_IPV4 = (1n << 32n) - 1n
const MAX_IPV6 = (1n << 128n) - 1n
const MAPPED_TOP = 0xffffn
const zero = 0x30

const scratch = newAddressWords()
/** 128 bits, most significant byte first. */
const halves = new DataView(new ArrayBuffer(16))

export const maxAddress = (family: Family): bigint => (family === 4 ? MAX_IPV4 : MAX_IPV6)

export const addressBits = (family: Family): 32 | 128 => (family === 4 ? 32 : 128)

/** The inverse of `bigintToWords`. */
export function wordsToBigint(family: Family, words: Uint32Array): bigint {
  let value = BigInt(words[0]!)
  if (family === 4) return value
  for (let index = 1; index < 4; index++) value = (value << 32n) | BigInt(words[index]!)
  return value
}

/** Writes to caller-owned words, unused ones zero; the inverse of `wordsToBigint`. */
export function bigintToWords(family: Family, value: bigint, out: Uint32Array): void {
  if (family === 4) {
    out.fill(0)
    out[0] = Number(value)
    return
  }
  halves.setBigUint64(0, value >> 64n)
  halves.setBigUint64(8, value)
  for (let index = 0; index < 4; index++) out[index] = halves.getUint32(index * 4)
}

/**
 * `192.0.2.1`, `192.0.2.0/24` or `192.0.2.1-192.0.2.9` (spaces around the dash allowed); host bits
 * are masked. IPv4-mapped text means the IPv4 range. `undefined` for anything else, including a
 * last address before the first.
 */
export function parseRange(text: string): Range | undefined {
  const dash = text.indexOf('-')
  if (dash >= 0) return parseEnds(text.slice(0, dash).trimEnd(), text.slice(dash + 1).trimStart())
  if (text.includes('/')) return parsePrefix(text)
  const address = readAddress(text)
  return address && withoutMapped(address.family, address.value, address.value)
}

/** Only `192.0.2.0/24`, not a single address. Host bits are masked. */
export function parsePrefix(text: string): Range | undefined {
  const slash = text.indexOf('/')
  const length = slash < 0 ? -1 : readLength(text, slash + 1)
  const family = length < 0 ? 0 : parseAddress(text.slice(0, slash), scratch)
  if (family === 0 || length > addressBits(family)) return undefined
  const { first, last } = prefixRange(family, wordsToBigint(family, scratch), length)
  return withoutMapped(family, first, last)
}

/** Whether `text` is a prefix with host bits set, such as `192.0.2.1/24`. */
export function hasHostBits(text: string): boolean {
  const slash = text.indexOf('/')
  const address = parsePrefix(text) && readAddress(text.slice(0, slash))
  if (address === undefined) return false
  const { family, value } = address
  return prefixRange(family, value, readLength(text, slash + 1)).first !== value
}

/** The prefix of `length` bits that contains `value`. */
export function prefixRange(family: Family, value: bigint, length: number): Range {
  const hostMask = maxAddress(family) >> BigInt(length)
  const last = value | hostMask
  return { family, first: last ^ hostMask, last }
}

/** The shortest text: address, prefix, or first-last. The inverse of `parseRange`. */
export function formatRange(range: Range): string {
  const { family, first, last } = range
  if (first === last) return formatValue(family, first)
  const length = prefixLength(range)
  if (length !== undefined) return `${formatValue(family, first)}/${length}`
  return `${formatValue(family, first)}-${formatValue(family, last)}`
}

/** The length if the range is one prefix: its host bits run from 0 to 1, as in 0b0111. */
function prefixLength({ family, first, last }: Range): number | undefined {
  const hostMask = first ^ last
  if ((hostMask & (hostMask + 1n)) !== 0n || (first & hostMask) !== 0n) return undefined
  const hostBits = hostMask === 0n ? 0 : hostMask.toString(2).length
  return addressBits(family) - hostBits
}

function formatValue(family: Family, value: bigint): string {
  bigintToWords(family, value, scratch)
  return formatAddress(family, scratch)
}

function readAddress(text: string) {
  const family = parseAddress(text, scratch)
  return family === 0 ? undefined : { family, value: wordsToBigint(family, scratch) }
}

/** The number in `text` from `start`, one to three digits without leading zeros; or -1. */
function readLength(text: string, start: number): number {
  const count = text.length - start
  if (count < 1 || count > 3) return -1
  if (count > 1 && text.charCodeAt(start) === zero) return -1
  let length = 0
  for (let at = start; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

function parseEnds(firstText: string, lastText: string): Range | undefined {
  const first = readAddress(firstText)
  const last = readAddress(lastText)
  if (first === undefined || last === undefined) return undefined
  if (first.family !== last.family || first.value > last.value) return undefined
  return withoutMapped(first.family, first.value, last.value)
}

/** The IPv4 range if both ends are in ::ffff:0:0/96; a range that only overlaps it stays IPv6. */
function withoutMapped(family: Family, first: bigint, last: bigint): Range {
  if (family === 6 && first >> 32n === MAPPED_TOP && last >> 32n === MAPPED_TOP) {
    return { family: 4, first: first & MAX_IPV4, last: last & MAX_IPV4 }
  }
  return { family, first, last }
}
