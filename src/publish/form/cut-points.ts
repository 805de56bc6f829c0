// Hot path: `nextCut`. No allocation, throw, closure, BigInt or regular expression there.
//
// Where bytes are cut into parts: behind content that a rolling hash picks, not at fixed places, so
// that bytes put in or taken out change the parts around them and no others (FastCDC: Xia et al.,
// USENIX ATC 2016; its normalised form, with a harder mask before the usual length and an easier
// one behind it).
//
// Invariant: where a cut lies depends on the bytes since the cut before it alone. The publisher and
// every server find the same cuts, so the numbers here belong to the published form: changing one
// makes a day of full transfers.

/** Bytes of a part: usually about the middle one, after decompression. */
export interface PartBytes {
  readonly min: number
  readonly usual: number
  readonly max: number
}

export const partBytes: PartBytes = { min: 32_768, usual: 131_072, max: 524_288 }

/** One 32-bit number for each byte: xorshift from a fixed seed, the same everywhere. */
const gear = new Uint32Array(256)
let state = 0x9e37_79b9
for (let byte = 0; byte < 256; byte++) {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  gear[byte] = state
}

/** The end of the part of `bytes` that begins at `from`; at most `end`. */
export function nextCut(
  bytes: Uint8Array,
  from: number,
  end: number,
  { min, usual, max }: PartBytes = partBytes,
): number {
  const limit = Math.min(end, from + max)
  const middle = Math.min(limit, from + usual)
  // The high bits of the hash have seen the most bytes.
  const bits = 31 - Math.clz32(usual)
  const hard = maskOf(bits + 1)
  const easy = maskOf(bits - 1)
  let roll = 0
  let at = from + min
  for (; at < middle; at++) {
    roll = (roll << 1) + gear[bytes[at]!]!
    if ((roll & hard) === 0) return at + 1
  }
  for (; at < limit; at++) {
    roll = (roll << 1) + gear[bytes[at]!]!
    if ((roll & easy) === 0) return at + 1
  }
  return limit
}

function maskOf(bits: number): number {
  return (2 ** bits - 1) << (32 - bits)
}
