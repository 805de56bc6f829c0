// Abuse blocklists make no class; they are counted (MODEL.md, rule 10). A feed that counts lists
// (IPsum) contributes its number; in a group the highest number counts, groups add up. A number
// fades with its evidence: at least one list while the kind is strong enough for a signal, then a
// reason without points.
//
// Invariants: match ⇔ lists ≥ 1 ⇔ points > 0; more evidence never lowers the number.

import type { ReasonCode } from './reason-codes.ts'
import { presentStrengthMin, strengthOf, strongestByGroup } from '../weight/strength.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

export interface BlocklistFinding {
  /** Lists that name the address today, weighted and rounded. */
  readonly lists: number
  /** Independent feeds among them. */
  readonly voices: number
  readonly points: number
  /** `undefined` if it was never listed. */
  readonly code: ReasonCode | undefined
}

/** By number of lists, highest first. */
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

/** From this number on, they count beside Tor and proxies, and lift the cap of a known bot. */
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
