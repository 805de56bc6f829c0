// Addresses as text for comparing decisions: near what the small table lists, in its networks, and
// anywhere, of both families, with IPv4 inside IPv6 in all its forms.

import { listed, networkRanges } from '../table/small-table.ts'

/** A generator of numbers below 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

const prefixes = [...listed, ...networkRanges].map(([text]) => text.split('/')[0] ?? '')
const firstOctets = [9, 9, 11, 11, 12, 13, 10, 192]

/** `count` of them; many share a record, some are bogons. */
export function* sampleAddresses(count: number, seed = 18): Generator<string> {
  const random = seeded(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const ipv4 = (): string =>
    random() < 0.1
      ? pick(prefixes.filter((text) => text.includes('.')))
      : [pick(firstOctets), below(256), below(256), below(256)].join('.')
  const hextets = (text: string): string => {
    const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  }
  const ipv6 = (): string => {
    const known = pick(prefixes.filter((text) => text.includes(':')))
    if (random() < 0.3) return known
    return `2a0${below(4)}:${pick(['4f8', '1', below(65_536).toString(16)])}::${below(8)}`
  }
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const forms = [
    ipv4,
    ipv4,
    ipv4,
    ipv6,
    ipv6,
    () => `2002:${hextets(ipv4())}::${below(3)}`,
    () => `64:ff9b::${ipv4()}`,
    () => `::ffff:${ipv4()}`,
    () => `2001:0:1:2:3:4:${hextets(ipv4())}`,
  ]
  for (let i = 0; i < count; i++) yield pick(forms)()
}
