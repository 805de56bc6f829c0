// Hot path: no allocation, no throw, no closure, no BigInt in this file.
//
// IPv4 addresses inside IPv6 ones, in the four well-known forms. Callers decide which address is
// judged. Without ISATAP and operators' own NAT64 prefixes (64:ff9b:1::/48 and others), which the
// address alone does not show.
//
//   kind             prefix           the IPv4 address is in
//   1 IPv4-mapped    ::ffff:0:0/96    the last 32 bits                 RFC 4291, 2.5.5.2
//   2 6to4           2002::/16        bits 16 to 47                    RFC 3056, 2
//   3 NAT64          64:ff9b::/96     the last 32 bits                 RFC 6052, 2.1
//   4 Teredo         2001::/32        the last 32 bits, inverted       RFC 4380, 4 (the client's)

export const EMBEDDED = { none: 0, mapped: 1, sixToFour: 2, nat64: 3, teredo: 4 } as const

export type EmbeddedKind = (typeof EMBEDDED)[keyof typeof EMBEDDED]

/** How the IPv6 address in `words` embeds an IPv4 address. */
export function embeddedKind(words: Uint32Array): EmbeddedKind {
  const top = words[0]!
  if (top >>> 16 === 0x2002) return EMBEDDED.sixToFour
  if (top === 0x20010000) return EMBEDDED.teredo
  if (words[1] !== 0) return EMBEDDED.none
  if (top === 0 && words[2] === 0xffff) return EMBEDDED.mapped
  if (top === 0x0064ff9b && words[2] === 0) return EMBEDDED.nat64
  return EMBEDDED.none
}

/** The IPv4 value in `words`, given the result of `embeddedKind`; 0 for kind 0. */
export function embeddedIpv4(kind: EmbeddedKind, words: Uint32Array): number {
  if (kind === EMBEDDED.sixToFour) return ((words[0]! << 16) | (words[1]! >>> 16)) >>> 0
  if (kind === EMBEDDED.teredo) return ~words[3]! >>> 0
  return kind === EMBEDDED.none ? 0 : words[3]!
}
