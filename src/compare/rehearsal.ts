// What a policy would have done to the addresses of files: counted by outcome, and for what it
// would not have let pass, or would have decided otherwise than another policy, by network,
// provider and country. Addresses come as the tallies of pieces (src/bulk/line-tally.ts).

import type { LineTally } from '../bulk/line-tally.ts'
import { newAddressWords } from '../ip/address.ts'
import { formatAddress, formatIpv4 } from '../ip/format-address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { decide } from '../policy/decision-memory.ts'
import type { Outcome, Policy } from '../policy/policy.ts'
import { countryOf } from '../table/file/location-record.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { Rehearsed } from './compared-table.ts'
import { newTopCounts, type TopCounts } from './top-counts.ts'

/** Requests by the outcome of the policy and, where there is one, of the other policy. */
export interface OutcomeCount {
  readonly outcome: Outcome
  readonly other: Outcome | undefined
  readonly requests: number
}

export interface Hits {
  readonly networks: Map<number, number>
  readonly verdicts: Map<number, number>
  readonly countries: Map<number, number>
  readonly addresses: TopCounts
}

export interface RehearsalCounter {
  readonly add: (tally: Pick<LineTally, 'ipv4' | 'ipv6'>) => void
  readonly outcomes: () => readonly OutcomeCount[]
  /** Of requests that would not have passed; beside another policy, of those that change. */
  readonly hits: Hits
}

export const policyOf = ({ memory, index }: Rehearsed): Policy => memory.set.policies[index]!

export function newRehearsalCounter(
  table: OpenTable,
  one: Rehearsed,
  other: Rehearsed | undefined,
): RehearsalCounter {
  const { views } = table.reader
  const words = newAddressWords()
  const located = newLocated()
  /** By number of the outcome, then of the other's. */
  const counts: number[][] = []
  const hits = newHits()
  const policy = policyOf(one)
  const otherPolicy = other === undefined ? undefined : policyOf(other)
  const isHit = (number: number, otherNumber: number): boolean => {
    const { action } = policy.outcomes[number]!.decision
    if (otherPolicy === undefined) return action !== 'allow'
    return action !== otherPolicy.outcomes[otherNumber]!.decision.action
  }
  const count = (requests: number, textOf: () => string): void => {
    const number = decide(one.memory, one.index, words, located)
    const otherNumber = other === undefined ? 0 : decide(other.memory, other.index, words, located)
    const row = (counts[number] ??= [])
    row[otherNumber] = (row[otherNumber] ?? 0) + requests
    if (isHit(number, otherNumber)) addHit(hits, table, { located, requests, text: textOf() })
  }
  return {
    hits,
    add: ({ ipv4, ipv6 }) => {
      for (let at = 0; at < ipv4.length; at += 2) {
        words[0] = ipv4[at]!
        locate(views, 4, words, located)
        count(ipv4[at + 1]!, () => formatIpv4(ipv4[at]!))
      }
      for (const [text, requests] of ipv6) {
        if (parseAddress(text, words) !== 6) continue
        locate(views, 6, words, located)
        count(requests, () => formatAddress(6, words))
      }
    },
    outcomes: () =>
      counts.flatMap((row, number) =>
        row.flatMap((requests, otherNumber) => {
          const outcome = policy.outcomes[number]!
          return [{ outcome, other: otherPolicy?.outcomes[otherNumber], requests }]
        }),
      ),
  }
}

export function newHits(): Hits {
  return {
    networks: new Map(),
    verdicts: new Map(),
    countries: new Map(),
    addresses: newTopCounts(1),
  }
}

/** Bogons have no verdict, network and place. */
export function addHit(
  hits: Hits,
  { reader: { views } }: OpenTable,
  hit: { readonly located: Located; readonly requests: number; readonly text: string },
): void {
  const { located, requests, text } = hit
  hits.addresses.add(text, [requests])
  if (located.bogon) return
  const { network, verdict, location } = located
  addTo(hits.networks, network, requests)
  addTo(hits.verdicts, verdict, requests)
  addTo(hits.countries, countryOf(views, location), requests)
}

function addTo(counts: Map<number, number>, key: number, requests: number): void {
  counts.set(key, (counts.get(key) ?? 0) + requests)
}
