// Evidence and networks for the tests of src/score: sound defaults, so that a test names only what
// it is about; and fast-check arbitraries over all that the types allow.

import * as fc from 'fast-check'
import { parseDay } from '../../src/base/day.ts'
import type { Day } from '../../src/base/day.ts'
import type { Evidence, HalfLives, Voice } from '../../src/model/evidence.ts'
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
  readonly halfLives?: HalfLives
  readonly consumer?: boolean
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
      ...(sample.halfLives === undefined ? {} : { halfLives: sample.halfLives }),
      ...(sample.consumer === undefined ? {} : { consumer: sample.consumer }),
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
  const rest = { access: false, shared: false, corporate: false, cdn: false, anycast: false }
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

/** Numbers below `limit`, one after another, the same for the same seed (mulberry32). */
function newDice(seed: number): (limit: number) => number {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

/** One of them, each as likely. */
function pick<T>(dice: (limit: number) => number, from: readonly [T, ...T[]] | readonly T[]): T {
  return from[dice(from.length)] as T
}

/**
 * Evidence number `seed`: all that the types allow. Rolled from one number, because fast-check
 * takes a hundred times as long for each member of a record; a set of them still shrinks to the
 * pieces that matter.
 */
function evidenceNumber(seed: number): Evidence {
  const dice = newDice(seed)
  const kind = pick(dice, kinds)
  const age = dice(4) === 0 ? dice(124) - 3 : dice(11)
  const daysObserved = 1 + dice(30)
  const evidence: Evidence = {
    voice: {
      id: operatorsTable(
        kind,
        pick(dice, ['table-hosting', 'feed-1', 'feed-2', 'feed-3', 'feed-4']),
      ),
      group: pick(dice, ['group-1', 'group-2', 'group-3', 'group-4']),
      weight: faintHosting(kind, seed) ?? (dice(2) === 0 ? 1 : dice(101) / 100),
      assurance: pick(dice, ['direct', 'good', 'weak']),
      rolling: dice(2) === 0,
      asns: dice(6) === 0 ? [pick(dice, [64500, 64501])] : [],
      ...measuredFacts(kind, seed),
    },
    kind,
    match: dice(3) === 0 ? pick(dice, matches) : 'exact',
    provider: pick(dice, ['', 'Alpha', 'Beta', kind === 'bot' ? 'Googlebot' : 'Google']),
    category: kind === 'bot' ? pick(dice, [undefined, ...botCategories]) : undefined,
    lists: kind === 'blocklist' ? 1 + dice(9) : 1,
    firstSeen: (today - age - 5) as Day,
    lastSeen: (today - age) as Day,
    daysListed: 1 + dice(daysObserved),
    daysObserved,
  }
  return kind === 'vpn' && evidence.match === 'near' ? orInferred(evidence) : evidence
}

/** What the build computes of VPN servers around, half of the time in the one form, half in the other. */
function orInferred(near: Evidence): Evidence {
  if (near.voice.id < 'feed-3') return near
  const voice: Voice = {
    ...near.voice,
    id: 'inferred-vpn',
    weight: 0.5,
    rolling: true,
    asns: [],
    consumer: false,
  }
  return { ...near, voice, provider: '' }
}

/** So that voices for hosting must add up; the weight's own rolls are made elsewhere. */
function faintHosting(kind: Kind, seed: number): number | undefined {
  return kind === 'hosting' && newDice(seed ^ 0x3c6ef372)(2) === 0 ? 0.2 : undefined
}

/** What few feeds have. Rolled apart, or old seeds would make other sets. */
function measuredFacts(kind: Kind, seed: number): Pick<Voice, 'halfLives' | 'consumer'> {
  const dice = newDice(seed ^ 0x6a09e667)
  return {
    ...(dice(4) === 0 ? { halfLives: { lines: 1 + dice(60), shared: 1 + dice(9) } } : {}),
    ...(kind === 'vpn' && dice(3) === 0 ? { consumer: true } : {}),
  }
}

/** Its word on Tor is one feed's in five. No roll of its own, or old seeds would make other sets. */
function operatorsTable(kind: Kind, feed: string): string {
  return kind === 'tor' && feed === 'feed-4' ? 'table-tor-operators' : feed
}

function networkNumber(seed: number): Network | undefined {
  const dice = newDice(seed)
  if (dice(8) === 0) return undefined
  const flag = (): boolean => dice(5) === 0
  return {
    asn: 64500 + dice(3),
    organization: 'Example',
    type: pick(dice, networkTypes),
    mobile: flag(),
    access: dice(2) === 0,
    shared: flag(),
    corporate: flag(),
    cdn: flag(),
    anycast: newDice(seed ^ 0x510e527f)(9) === 0,
  }
}

const seeds = fc.nat({ max: 0xffff_ffff })

export const evidenceArbitrary: fc.Arbitrary<Evidence> = seeds.map(evidenceNumber)
export const evidenceSets: fc.Arbitrary<readonly Evidence[]> = fc
  .array(seeds, { maxLength: 8, size: 'max' })
  .map((numbers) => numbers.map(evidenceNumber))
export const networkArbitrary: fc.Arbitrary<Network | undefined> = seeds.map(networkNumber)
