// Hot path: `nextCut`. No allocation, throw, closure, BigInt or regular expression there.
//
// Cuts bytes into parts where a rolling hash of the content says, so that inserted or removed bytes
// change only nearby parts (FastCDC: Xia et al., USENIX ATC 2016, normalised: a harder mask before
// the usual length, an easier one after it).
//
// Invariant: a cut depends only on the bytes since the last cut. The constants are part of the
// published form: changing one costs a day of full transfers.

/** After decompression. */
export interface PartBytes {
  readonly min: number
  readonly usual: number
  readonly max: number
}

export const partBytes: PartBytes = { min: 32_768, usual: 131_072, max: 524_288 }

/** Xorshift from a fixed seed. */
const gear = new Uint32Array(256)
let state = 0x9e37_79b9
for (let byte = 0; byte < 256; byte++) {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  gear[byte] = state
}

export function nextCut(
  bytes: Uint8Array,
  from: number,
  end: number,
  { min, usual, max }: PartBytes = partBytes,
): number {
  const limit = Math.min(end, from + max)
  const middle = Math.min(limit, from + usual)
  // The high bits of the hash depend on the most bytes.
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
