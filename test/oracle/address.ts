// Addresses and ranges as the oracle knows them: what ipaddr.js makes of a text, as one number.
// IPv4 is a number, IPv6 a bigint. Shares nothing with src/ip, which is what it checks.

import ipaddr from 'ipaddr.js'

/** One IPv4 address as a number, or one IPv6 address as a bigint. */
export type Point = number | bigint

export interface Span<N extends Point = Point> {
  readonly first: N
  readonly last: N
}

/** The value of one address; IPv4-mapped text stays IPv6. Throws for what ipaddr.js refuses. */
export function pointOf(text: string): Point {
  const parsed = ipaddr.parse(text)
  const bytes = parsed.toByteArray()
  return parsed.kind() === 'ipv4'
    ? bytes.reduce((value, byte) => value * 256 + byte, 0)
    : BigInt('0x' + Buffer.from(bytes).toString('hex'))
}

/** An address, `address/length` (host bits are dropped) or `first-last`. */
export function spanOf(text: string): Span {
  const [first = '', last] = text.split('-')
  if (last !== undefined) return spanBetween(pointOf(first.trim()), pointOf(last.trim()))
  const [address = '', length] = text.split('/')
  const point = pointOf(address)
  if (length === undefined) return spanBetween(point, point)
  if (typeof point === 'number') {
    const size = 2 ** (32 - Number(length))
    const base = Math.floor(point / size) * size
    return { first: base, last: base + size - 1 }
  }
  const bits = BigInt(128 - Number(length))
  const base = (point >> bits) << bits
  return { first: base, last: base + (1n << bits) - 1n }
}

function spanBetween(first: Point, last: Point): Span {
  if (typeof first !== typeof last || first > last) throw new Error(`no range: ${first} to ${last}`)
  return { first, last }
}

/** Whether two spans of one family share an address. */
export function overlaps(one: Span, other: Span): boolean {
  return (
    typeof one.first === typeof other.first && one.first <= other.last && other.first <= one.last
  )
}

/** Dotted quad, or eight groups of four digits: plain, not canonical. */
export function textOf(point: Point): string {
  if (typeof point === 'number') {
    return [24, 16, 8, 0].map((shift) => Math.floor(point / 2 ** shift) % 256).join('.')
  }
  const digits = point.toString(16).padStart(32, '0')
  return digits.match(/.{4}/g)!.join(':')
}

/** The address as 32-bit words in the form that the table's lookup takes. */
export function wordsOf(point: Point, out: Uint32Array): void {
  if (typeof point === 'number') {
    out.fill(0)
    out[0] = point
  } else {
    for (let word = 0; word < 4; word++) {
      out[word] = Number((point >> BigInt(96 - 32 * word)) & 0xffff_ffffn)
    }
  }
}

/** The neighbour at `distance`, or `undefined` beyond the ends of the family. */
export function neighbour(point: Point, distance: 1 | -1): Point | undefined {
  if (typeof point === 'number') {
    const value = point + distance
    return value < 0 || value > 0xffff_ffff ? undefined : value
  }
  const value = point + BigInt(distance)
  return value < 0n || value >> 128n !== 0n ? undefined : value
}
