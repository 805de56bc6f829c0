// What addresses the benchmarks ask about: the scenario table, family by distribution, and the
// drawing of each. A row added here is measured by every program that runs over the table. The same
// table, seed and count give the same addresses.
//
//   uniform   every announced address is equally likely: caches help little
//   zipf      100,000 announced addresses, the k-th most frequent one drawn in proportion to 1/k:
//             what a service sees when few addresses make most of its requests

import { type Family, newWords } from '../src/ip/address.ts'
import { formatAddress } from '../src/ip/text.ts'
import { type AnnouncedSpace, lastAtMost } from './announced.ts'
import { type Random, newRandom } from './random.ts'

export const distributions = ['uniform', 'zipf'] as const
export type Distribution = (typeof distributions)[number]

export interface Scenario {
  readonly name: string
  readonly family: Family
  readonly distribution: Distribution
}

export const scenarios = [
  { name: 'ipv4-uniform', family: 4, distribution: 'uniform' },
  { name: 'ipv4-zipf', family: 4, distribution: 'zipf' },
  { name: 'ipv6-uniform', family: 6, distribution: 'uniform' },
  { name: 'ipv6-zipf', family: 6, distribution: 'zipf' },
] as const satisfies readonly Scenario[]

export type ScenarioName = (typeof scenarios)[number]['name']

/** The addresses of one scenario, in the order in which they are asked about. */
export interface Addresses {
  readonly family: Family
  readonly count: number
  /** Four words an address. */
  readonly words: Uint32Array
  readonly texts: readonly string[]
}

/** The seed of every published figure. */
export const defaultSeed = 20260822

/** How many addresses the zipf distribution chooses from. */
export const zipfAddresses = 100_000

export function scenarioNamed(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name)
}

/** Draws `count` addresses out of `space`, which is of the scenario's family. */
export function drawAddresses(
  scenario: Scenario,
  options: { readonly space: AnnouncedSpace; readonly count: number; readonly seed: number },
): Addresses {
  const { space, count, seed } = options
  const random = newRandom(seed)
  if (scenario.distribution === 'uniform') return drawUniform(space, random, count)
  const population = drawUniform(space, random, zipfAddresses)
  const rank = zipfRanks(random, zipfAddresses)
  const ranks = Uint32Array.from({ length: count }, rank)
  const words = new Uint32Array(count * 4)
  ranks.forEach((from, index) => {
    words.set(population.words.subarray(from * 4, from * 4 + 4), index * 4)
  })
  const texts = Array.from(ranks, (from) => population.texts[from] ?? '')
  return { family: space.family, count, words, texts }
}

function drawUniform(space: AnnouncedSpace, random: Random, count: number): Addresses {
  const words = new Uint32Array(count * 4)
  const address = newWords()
  const texts = Array.from({ length: count }, (_, index) => {
    space.draw(random, address)
    words.set(address, index * 4)
    return formatAddress(space.family, address)
  })
  return { family: space.family, count, words, texts }
}

/** Draws ranks from 0 to below `count`, rank k in proportion to 1 / (k + 1). */
export function zipfRanks(random: Random, count: number): () => number {
  /** before[k] is the probability of all ranks before k. */
  const before = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) {
    before[rank] = sum
    sum += 1 / (rank + 1)
  }
  for (let rank = 0; rank < count; rank++) before[rank] = before[rank]! / sum
  return () => lastAtMost(before, random.fraction())
}
