// Seeded random numbers for benchmarks and their tests: the same seed gives the same numbers on
// every machine. Not for secrets, and not for anything that the product does.
//
// xoshiro128** 1.1 (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM
// TOMS 47, 2021; prng.di.unimi.it), which needs 32-bit arithmetic alone. Its state is filled by
// SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), as its authors advise, so that near seeds
// give unlike numbers.

export interface Random {
  /** A whole number from 0 to 2^32 - 1. */
  readonly word: () => number
  /** A multiple of 2^-53 from 0 to below 1. */
  readonly fraction: () => number
  /** A whole number from 0 to below `end`, which is at most 2^53. */
  readonly below: (end: number) => number
}

export function newRandom(seed: number): Random {
  return randomOf(stateOf(seed))
}

/** The generator from a whole state of four words that are not all zero. */
export function randomOf(state: readonly [number, number, number, number]): Random {
  let [a, b, c, d] = state
  const word = (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotate(d, 11)
    return result
  }
  const fraction = (): number => {
    const high = word() >>> 5
    return (high * 0x400_0000 + (word() >>> 6)) / 2 ** 53
  }
  return { word, fraction, below: (end) => Math.floor(fraction() * end) }
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function stateOf(seed: number): [number, number, number, number] {
  const next = splitMix64(BigInt(seed))
  const [first, second] = [next(), next()]
  const low = (value: bigint): number => Number(value & 0xffff_ffffn)
  return [low(first), low(first >> 32n), low(second), low(second >> 32n)]
}

/** SplitMix64: whole numbers below 2^64. */
export function splitMix64(seed: bigint): () => bigint {
  let state = BigInt.asUintN(64, seed)
  return () => {
    state = BigInt.asUintN(64, state + 0x9e37_79b9_7f4a_7c15n)
    let mixed = state
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58_476d_1ce4_e5b9n)
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d0_49bb_1331_11ebn)
    return mixed ^ (mixed >> 31n)
  }
}
