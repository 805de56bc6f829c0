// Samples addresses like those a service is asked about: most in access networks, the rest in any
// announced space, each network weighted by its size. Deterministic for the same layers.

import { newAddressWords } from '../../src/ip/address.ts'
import { bigintToWords } from '../../src/ip/range.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import type { Network } from '../../src/model/network.ts'
import { type Layer, type Layers, startOf } from '../layer/layer.ts'

/** 20,000: a share of 2 % is known to ± 0.2 %, and asking two tables takes a tenth of a second. */
export const samplePlan = { ipv4Access: 14_000, ipv4Announced: 4_000, ipv6Access: 2_000 } as const

const seed = 20_260_822

export interface SampledSpace {
  readonly networks: readonly Network[]
  readonly layers: Layers
}

/** Fewer if part of the space is empty. */
export function sampleAddresses(space: SampledSpace): readonly string[] {
  const random = newRandom(seed)
  const isAccess = (value: number): boolean => space.networks[value - 1]?.access === true
  const isAnnounced = (value: number): boolean => value !== 0
  return [
    ...draw(space.layers[4], isAccess, { count: samplePlan.ipv4Access, random }),
    ...draw(space.layers[4], isAnnounced, { count: samplePlan.ipv4Announced, random }),
    ...draw(space.layers[6], isAccess, { count: samplePlan.ipv6Access, random }),
  ]
}

function draw(
  layer: Layer,
  wanted: (value: number) => boolean,
  how: { readonly count: number; readonly random: () => number },
): readonly string[] {
  const { family } = layer
  const pieces: number[] = []
  const ends: number[] = []
  let total = 0
  for (let piece = 0; piece < layer.count; piece++) {
    if (!wanted(layer.values[piece]!)) continue
    pieces.push(piece)
    // 53 bits are enough to choose a piece by its size.
    total += Number(startOf(layer, piece + 1) - startOf(layer, piece))
    ends.push(total)
  }
  if (total === 0) return []
  const words = newAddressWords()
  return Array.from({ length: how.count }, () => {
    const piece = pieces[firstAbove(ends, how.random() * total)] ?? 0
    const first = startOf(layer, piece)
    const size = startOf(layer, piece + 1) - first
    bigintToWords(family, first + (randomBits(how.random) % size), words)
    return formatAddress(family, words)
  })
}

function firstAbove(ends: readonly number[], value: number): number {
  let low = 0
  let high = ends.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ends[middle]! > value) high = middle
    else low = middle + 1
  }
  return low
}

function randomBits(random: () => number): bigint {
  let bits = 0n
  for (let word = 0; word < 4; word++) bits = (bits << 32n) | BigInt(Math.floor(random() * 2 ** 32))
  return bits
}

/** Mulberry32: the same numbers in [0, 1) for the same seed. */
function newRandom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
