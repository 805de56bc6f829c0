// Evidence and networks for the tests of src/score: sound defaults, so that a test names only what
// it is about; and fast-check arbitraries over all that the types allow.

import * as fc from 'fast-check'
import { parseDay } from '../../src/base/day.ts'
import type { Day } from '../../src/base/day.ts'
import type { Evidence, Voice } from '../../src/model/evidence.ts'
import { botCategories, kinds, matches, networkTypes } from '../../src/model/kind.ts'
import type { BotCategory, Kind, Match } from '../../src/model/kind.ts'
import type { Network } from '../../src/model/network.ts'
import type { Verdict } from '../../src/model/verdict.ts'
import { judge } from '../../src/score/judge.ts'

export function dayOfText(text: string): Day {
  const day = parseDay(text)
  if (day === undefined) throw new Error(`no day: ${text}`)
  return day
}

export const today = dayOfText('2026-08-22')

/** What a test says of a piece of evidence; all but the kind has a default. */
export interface Sample {
  readonly kind: Kind
  readonly match?: Match
  /** Id of the feed; the group, too, where none is given. */
  readonly feed?: string
  readonly group?: string
  readonly weight?: number
  readonly assurance?: Voice['assurance']
  readonly rolling?: boolean
  readonly asns?: readonly number[]
  readonly provider?: string
  readonly category?: BotCategory | 'other'
  readonly lists?: number
  /** Days between the last day listed and today. */
  readonly age?: number
  readonly listed?: number
  readonly observed?: number
}

export function evidenceOf(sample: Sample): Evidence {
  const feed = sample.feed ?? `${sample.kind}-feed`
  const category = sample.kind === 'bot' ? (sample.category ?? 'search_crawler') : 'other'
  const lastSeen = (today - (sample.age ?? 0)) as Day
  return {
    voice: {
      id: feed,
      group: sample.group ?? feed,
      weight: sample.weight ?? 1,
      assurance: sample.assurance ?? 'direct',
      rolling: sample.rolling ?? false,
      asns: sample.asns ?? [],
    },
    kind: sample.kind,
    match: sample.match ?? 'exact',
    provider: sample.provider ?? '',
    category: category === 'other' ? undefined : category,
    lists: sample.lists ?? 1,
    firstSeen: (lastSeen - 10) as Day,
    lastSeen,
    daysListed: sample.listed ?? 30,
    daysObserved: sample.observed ?? 30,
  }
}

export function networkOf(facts: Partial<Network>): Network {
  const network = { asn: 64500, organization: 'Example', type: 'unknown', mobile: false } as const
  const rest = { access: false, shared: false, corporate: false, cdn: false }
  return { ...network, ...rest, ...facts }
}

export const home = networkOf({ type: 'isp', access: true })
export const hoster = networkOf({ type: 'hosting' })
export const carrier = networkOf({ type: 'mobile', mobile: true, access: true, shared: true })
export const cdn = networkOf({ type: 'cdn', cdn: true })

export function judged(samples: readonly Sample[], network: Network | undefined): Verdict {
  return judge({ evidence: samples.map(evidenceOf), network, asOf: today })
}

export function codesOf(verdict: Verdict): readonly string[] {
  return verdict.reasons.map(({ code }) => code)
}

/** Names of the signals that are true, in wire order. */
export function signalsOf(verdict: Verdict): readonly string[] {
  return Object.entries(verdict.signals).flatMap(([name, value]) => (value ? [name] : []))
}

const voices = fc.record<Voice>({
  id: fc.constantFrom('table-hosting', 'feed-1', 'feed-2', 'feed-3', 'feed-4'),
  group: fc.constantFrom('group-1', 'group-2', 'group-3', 'group-4'),
  weight: fc.oneof(
    fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
    fc.constant(1),
  ),
  assurance: fc.constantFrom('direct', 'good', 'weak'),
  rolling: fc.boolean(),
  asns: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, fc.constantFrom([64500], [64501])),
})

const ages = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 10 }) },
  fc.integer({ min: -3, max: 120 }),
)

export const evidenceArbitrary: fc.Arbitrary<Evidence> = fc
  .record({
    voice: voices,
    kind: fc.constantFrom(...kinds),
    match: fc.oneof({ weight: 2, arbitrary: fc.constant('exact') }, fc.constantFrom(...matches)),
    provider: fc.constantFrom('', 'Alpha', 'Beta', 'Gamma'),
    category: fc.constantFrom(undefined, ...botCategories),
    lists: fc.integer({ min: 1, max: 9 }),
    age: ages,
    daysObserved: fc.integer({ min: 1, max: 30 }),
    daysListed: fc.integer({ min: 1, max: 30 }),
  })
  .map(({ age, daysListed, ...rest }) => ({
    ...rest,
    category: rest.kind === 'bot' ? rest.category : undefined,
    lists: rest.kind === 'blocklist' ? rest.lists : 1,
    firstSeen: (today - age - 5) as Day,
    lastSeen: (today - age) as Day,
    daysListed: Math.min(daysListed, rest.daysObserved),
  }))

const flag = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true))

export const networkArbitrary: fc.Arbitrary<Network | undefined> = fc.option(
  fc.record({
    asn: fc.constantFrom(64500, 64501, 64502),
    organization: fc.constant('Example'),
    type: fc.constantFrom(...networkTypes),
    mobile: flag,
    access: fc.boolean(),
    shared: flag,
    corporate: flag,
    cdn: flag,
  }),
  { nil: undefined, freq: 8 },
)
