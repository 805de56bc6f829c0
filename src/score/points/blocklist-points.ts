// Abuse blocklists make no class: they are counted (MODEL.md, rule 10). A feed that itself counts
// lists (IPsum) brings its number; of one group the highest number counts, groups add up. A number
// fades as its evidence does, to one list while the kind is strong enough for a signal, then to a
// reason without points.
//
// Invariants: match ⇔ lists ≥ 1 ⇔ points > 0; more evidence never lowers the number.

import type { ReasonCode } from './reason-codes.ts'
import { presentStrengthMin, strengthOf, strongestByGroup } from '../weight/strength.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

export interface BlocklistFinding {
  /** Whole lists that name the address today, as far as they are believed. */
  readonly lists: number
  /** Independent feeds among them: one that counts lists is one. */
  readonly voices: number
  readonly points: number
  /** `undefined` where no list ever named it. */
  readonly code: ReasonCode | undefined
}

/** Points by the number of lists, most first. */
export const blocklistSteps = [
  { lists: 5, points: 45, code: 'blocklist_5' },
  { lists: 3, points: 30, code: 'blocklist_3' },
  { lists: 2, points: 15, code: 'blocklist_2' },
  { lists: 1, points: 8, code: 'blocklist_1' },
] as const satisfies readonly {
  readonly lists: number
  readonly points: number
  readonly code: ReasonCode
}[]

/** From so many on they count beside Tor and proxies, and lift the cap of a known bot. */
export const significantListsMin = 3

const noLists: BlocklistFinding = { lists: 0, voices: 0, points: 0, code: undefined }
const fadedLists: BlocklistFinding = { ...noLists, code: 'blocklist_faded' }

/** `counted` is all of kind blocklist. */
export function blocklistOf(counted: readonly CountedEvidence[]): BlocklistFinding {
  if (counted.length === 0) return noLists
  if (strengthOf(counted) < presentStrengthMin) return fadedLists
  const numbers = strongestByGroup(
    counted.map(({ group, evidence, nearness }) => ({ group, value: evidence.lists * nearness })),
  )
  numbers.sort((a, b) => a - b)
  let sum = 0
  for (const number of numbers) sum += number
  const lists = Math.max(1, Math.round(sum))
  for (const { lists: least, points, code } of blocklistSteps) {
    if (lists >= least) return { lists, voices: numbers.length, points, code }
  }
  return noLists
}
