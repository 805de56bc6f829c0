// What an address is to this program. On the hot path it is a family and up to four 32-bit words in
// a caller-owned Uint32Array, most significant first: IPv4 in words[0] with the rest 0, IPv6 in
// words[0] to words[3]. Off the hot path (build, ranges) it is a family and a bigint.

/** 4 or 6. */
export type Family = 4 | 6

/** Words enough for either family. */
export function newAddressWords(): Uint32Array {
  return new Uint32Array(4)
}
