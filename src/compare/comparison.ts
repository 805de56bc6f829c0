// Compares two tables on the same addresses: what a change is and how it counts, for acceptance by
// builds and servers, trials by sampled traffic, replay and the console's table changes.
//
//   label        what a table answers for an address: a verdict, a classification or an action
//   change       a different label from the new table
//   comparison   how many were compared and how many changed, from what to what
//   threshold    how many may change (src/model/change-thresholds.ts)

import { addTo, largestFirst } from '../base/counts.ts'
import type { LineTally } from '../bulk/line-tally.ts'
import { newAddressWords } from '../ip/address.ts'
import { formatIpv4 } from '../ip/format-address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { type Classification, riskLevelOf } from '../model/kind.ts'
import { type DecisionMemory, decide } from '../policy/decision-memory.ts'
import { readClassification, readScore } from '../table/file/verdict-record.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'

export interface Change {
  readonly from: string
  readonly to: string
  readonly count: number
}

export interface Comparison {
  /** Addresses, requests or /64s. */
  readonly compared: number
  readonly changed: number
  /** The most frequent first. */
  readonly changes: readonly Change[]
}

export function newChangeCounter() {
  const counts = new Map<string, number>()
  let compared = 0
  let changed = 0
  return {
    /** Counts a pair of labels. Returns whether they differ. */
    add: (from: string, to: string, count = 1): boolean => {
      compared += count
      if (from === to) return false
      changed += count
      addTo(counts, `${from}\t${to}`, count)
      return true
    },
    comparison: (): Comparison => {
      const changes = largestFirst(counts).map(([key, count]) => {
        const [from = '', to = ''] = key.split('\t')
        return { from, to, count }
      })
      return { compared, changed, changes }
    },
  }
}

/** In percent with four decimals: acceptance may be at a hundredth of a percent. */
export const percentOf = (count: number, all: number): number =>
  all === 0 ? 0 : Math.round((1e6 * count) / all) / 1e4

/** Compares the exact share: rounded, one in a million would be zero. */
export const isAbove = (
  { changed, compared }: Pick<Comparison, 'changed' | 'compared'>,
  maxPercent: number,
): boolean => compared > 0 && (100 * changed) / compared > maxPercent

export interface PolicyInUse {
  readonly memory: DecisionMemory
  readonly index: number
}

export interface ComparedTable {
  readonly table: OpenTable
  readonly policy: PolicyInUse | undefined
}

/** The decision of the policy at `index`; `''` without policies. */
export function actionOf(
  { policy }: ComparedTable,
  words: Uint32Array,
  located: Located,
  index = policy?.index ?? 0,
): string {
  if (policy === undefined) return ''
  const { memory } = policy
  const number = decide(memory, index, words, located)
  return memory.set.policies[index]!.outcomes[number]!.decision.action
}

export const classOf = (
  { reader: { views } }: OpenTable,
  { bogon, verdict }: Located,
): Classification => (bogon ? 'bogon' : readClassification(views.verdicts, verdict))

/** One address in both tables: `locate` looks up the one parsed into `words`. */
export function newAddressPair(before: OpenTable, after: OpenTable) {
  const pair = { words: newAddressWords(), before: newLocated(), after: newLocated() }
  return {
    ...pair,
    locate: (family: 4 | 6) => {
      locate(before.reader.views, family, pair.words, pair.before)
      locate(after.reader.views, family, pair.words, pair.after)
    },
  }
}

/** Invalid addresses, and pairs that `isCounted` rejects, count as unchanged. */
export function compareAddresses<Item extends { readonly address: string }>(
  { before, after }: { readonly before: ComparedTable; readonly after: ComparedTable },
  items: Iterable<Item>,
  labelOf: (side: ComparedTable, words: Uint32Array, located: Located, item: Item) => string,
  isCounted: (item: Item, from: string, to: string) => boolean = () => true,
): Comparison {
  const pair = newAddressPair(before.table, after.table)
  const { words } = pair
  const counter = newChangeCounter()
  for (const item of items) {
    const family = parseAddress(item.address, words)
    if (family !== 0) pair.locate(family)
    const from = family === 0 ? '' : labelOf(before, words, pair.before, item)
    const to = family === 0 ? '' : labelOf(after, words, pair.after, item)
    counter.add(from, from === to || isCounted(item, from, to) ? to : from)
  }
  return counter.comparison()
}

/** Keyed by classification and level, `clean low`; own lists are ignored. */
export function compareVerdicts(
  before: OpenTable,
  after: OpenTable,
  addresses: readonly string[],
  isCounted: (address: string, from: string, to: string) => boolean = () => true,
): Comparison {
  const sideOf = (table: OpenTable): ComparedTable => ({ table, policy: undefined })
  return compareAddresses(
    { before: sideOf(before), after: sideOf(after) },
    addresses.map((address) => ({ address })),
    verdictOf,
    ({ address }, from, to) => isCounted(address, from, to),
  )
}

function verdictOf({ table }: ComparedTable, _words: Uint32Array, located: Located): string {
  const { bogon, verdict } = located
  const score = bogon ? 0 : readScore(table.reader.views.verdicts, verdict)
  return `${classOf(table, located)} ${riskLevelOf(score)}`
}

/** Visits each address of a tally with its requests, parsed into `words`. */
export function visitTally(
  { ipv4, ipv6 }: Pick<LineTally, 'ipv4' | 'ipv6'>,
  words: Uint32Array,
  visit: (family: 4 | 6, requests: number, textOf: () => string) => void,
): void {
  for (let at = 0; at < ipv4.length; at += 2) {
    words[0] = ipv4[at]!
    visit(4, ipv4[at + 1]!, () => formatIpv4(ipv4[at]!))
  }
  for (const [text, requests] of ipv6) {
    if (parseAddress(text, words) === 6) visit(6, requests, () => text)
  }
}
