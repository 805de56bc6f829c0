// What addresses the benchmarks ask about: the scenario table, family by distribution, and the
// drawing of each. A row added here is measured by every program that runs over the table. The same
// table, seed and count give the same addresses.
//
//   uniform    every announced address is equally likely: caches help little
//   zipf       100,000 announced addresses, the k-th most frequent one drawn in proportion to 1/k:
//              what a service sees when few addresses make most of its requests
//   hot        64 addresses, again and again: all that they need is in the nearest cache
//   dependent  as uniform, but a lookup begins only when the last has ended (its result says where
//              the next address lies): what one lookup takes, where the others show how many fit
//              into a second
//
// A `miss` asks about addresses that belong to no network. `cold` empties the caches before each
// chunk of 1024: what lookups cost beside other work; without it caches hold what the scenario
// itself leaves in them.

import { type Family, newAddressWords } from '../../../src/ip/address.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import type { SectionViews } from '../../../src/schema/table-sections.ts'
import { type AnnouncedSpace, announcedSpace, lastAtMost, unannouncedSpace } from './announced.ts'
import { type Random, newRandom } from '../../harness/random.ts'

export const distributions = ['uniform', 'zipf', 'hot', 'dependent'] as const
export type Distribution = (typeof distributions)[number]

export interface Scenario {
  /** `ipv4-uniform`, `ipv6-zipf-miss-cold`. */
  readonly name: string
  readonly family: Family
  readonly distribution: Distribution
  readonly miss: boolean
  readonly cold: boolean
}

export const scenarios: readonly Scenario[] = [false, true].flatMap((cold) =>
  [false, true].flatMap((miss) =>
    ([4, 6] as const).flatMap((family) =>
      distributions.map((distribution) => {
        const parts = [`ipv${family}`, distribution, miss ? 'miss' : '', cold ? 'cold' : '']
        const name = parts.filter((part) => part !== '').join('-')
        return { name, family, distribution, miss, cold }
      }),
    ),
  ),
)

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

/** How many addresses the hot distribution has. */
export const hotAddresses = 64

/** How many addresses the zipf distribution chooses from. */
export const zipfAddresses = 100_000

export function scenarioNamed(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name)
}

/** Where a scenario's addresses come from. */
export function spaceOfScenario(views: SectionViews, { family, miss }: Scenario): AnnouncedSpace {
  return miss ? unannouncedSpace(views, family) : announcedSpace(views, family)
}

/** Draws `count` addresses out of `space`, which is of the scenario's family. */
export function drawAddresses(
  scenario: Scenario,
  options: { readonly space: AnnouncedSpace; readonly count: number; readonly seed: number },
): Addresses {
  const { space, count, seed } = options
  const random = newRandom(seed)
  const { distribution } = scenario
  if (distribution === 'uniform' || distribution === 'dependent') {
    return drawUniform(space, random, count)
  }
  const size = distribution === 'hot' ? hotAddresses : zipfAddresses
  const population = drawUniform(space, random, size)
  const rank = distribution === 'hot' ? () => random.below(size) : zipfRanks(random, size)
  const ranks = Uint32Array.from({ length: count }, rank)
  const words = new Uint32Array(count * 4)
  ranks.forEach((from, index) => {
    words.set(population.words.subarray(from * 4, from * 4 + 4), index * 4)
  })
  const texts = Array.from(ranks, (from) => population.texts[from] ?? '')
  return { family: space.family, count, words, texts }
}

/** IPv4 addresses as most programs here ask about them: every announced one equally likely. */
export function uniformTexts(views: SectionViews, count: number): readonly string[] {
  const space = announcedSpace(views, 4)
  const scenario = scenarioNamed('ipv4-uniform')
  if (scenario === undefined) throw new Error('The scenario ipv4-uniform is gone.')
  return drawAddresses(scenario, { space, count, seed: defaultSeed }).texts
}

function drawUniform(space: AnnouncedSpace, random: Random, count: number): Addresses {
  const words = new Uint32Array(count * 4)
  const address = newAddressWords()
  const texts = Array.from({ length: count }, (_, index) => {
    space.draw(random, address)
    words.set(address, index * 4)
    return inOnePiece(formatAddress(space.family, address))
  })
  return { family: space.family, count, words, texts }
}

/**
 * As texts come from a socket, a header or JSON. What V8 put together of parts stays a tree of
 * them, in which every look at a character takes a step more.
 */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
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
