// Turns entries as written into statements about ranges. Only here it is decided whether an entry's
// text is an address, prefix, range or ASN, whether its feed may list it, and what it means: exact
// or range, a customer's IPv6 line, since when. Dropped entries are counted by reason.
//
// `finish` makes the statements once all entries of a feed are added: two entries may mean the same
// line, and what the feed listed lately but no longer does is a statement that fades.

import { cleanText } from '../../src/base/text/clean-text.ts'
import type { Day } from '../../src/base/day.ts'
import { memoise } from '../../src/base/memoise.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { type Range, bigintToWords, prefixRange } from '../../src/ip/range.ts'
import { subtract } from '../../src/ip/range-set.ts'
import type { Evidence, Voice } from '../../src/model/evidence.ts'
import type { Kind, Match } from '../../src/model/kind.ts'
import { slowestDecay } from '../../src/score/weight/decay.ts'
import { type Feed, whyInadmissible } from '../catalogue/feed.ts'
import { canonicalHoster } from '../networks/organization-name.ts'
import { isNetworkRange } from './builtin-feeds.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { windowDays } from '../history/aggregate-days.ts'
import { type ListedDays, countMaskDays, mergeListedDays } from '../history/history-ranges.ts'
import type { FeedHistory } from '../history/read-history.ts'
import { type Entry, rangeOf } from '../parse/entry.ts'
import type { Observation } from '../layer/flatten-evidence.ts'
import { newInterner, newRangeInterner } from '../layer/intern.ts'
import { type ParseCounts, countDrop } from '../parse/parse-counts.ts'

/** Kinds whose IPv6 address stands for its /64 in an access network (MODEL.md, rule 4). */
const customerKinds: ReadonlySet<Kind> = new Set(['vpn', 'proxy', 'residential_proxy', 'blocklist'])

/** Evidence that faded below this share gives less than half a point of any kind. */
const fadedBelow = 0.005

export interface NormaliseContext {
  readonly asOf: Day
  readonly book: EvidenceBook
  readonly observations: Readonly<Record<4 | 6, Observation[]>>
  /** Public resolvers, which no bot sends from. */
  readonly resolvers: Readonly<Record<4 | 6, readonly Range[]>>
  readonly inAccess: (family: 4 | 6, words: Uint32Array) => boolean
}

type EntryOutcome = 'kept' | 'duplicate' | 'dropped'

interface MeantRange {
  readonly range: Range
  readonly match: Match
  readonly details: FactDetails
  seen: ListedDays
}

type FactDetails = Pick<Entry, 'provider' | 'category' | 'lists'>

/** The voice of a feed's statements, and its history. */
interface SpokenFrom {
  readonly source: number
  readonly history: FeedHistory | undefined
  /** The voice for whole networks, if it has its own (networksPart). */
  readonly networks?: { readonly feed: Feed; readonly source: number } | undefined
}

export function newNormaliser(feed: Feed, from: SpokenFrom, context: NormaliseContext) {
  const meantRanges: MeantRange[] = []
  const ids = newRangeInterner()
  const facts = newInterner<string>((key) => key, 0)
  const onceSeen = memoise((day: Day) => seenOnce(day, context.asOf))
  const newestKnown = from.history?.days.at(-1) ?? 0
  /** The newest snapshot that the history does not have; later ones count as today's. */
  let newest = 0 as Day

  /** Returns whether this is the first entry about that range. */
  function addRange(range: Range, seen: ListedDays, details: FactDetails): boolean {
    const line = customerLine(feed.kind, range, context.inAccess)
    const match = line !== undefined || range.first === range.last ? 'exact' : 'range'
    const { provider = '', category = '', lists = 1 } = details
    const fact = facts.id(`${match} ${lists} ${category} ${provider}`)
    const meant = line ?? range
    const known = meantRanges[ids.id(fact, meant)]
    if (known === undefined) meantRanges.push({ range: meant, match, details, seen })
    else known.seen = mergeListedDays(known.seen, seen)
    return known === undefined
  }

  function normaliseRange(entry: Entry, day: Day, tally: ParseCounts): EntryOutcome {
    const range = rangeOf(entry)
    const dropped =
      range === undefined ? 'no address, prefix or range' : whyInadmissible(feed, range)
    if (range === undefined || dropped !== undefined) {
      countDrop(tally, { reason: dropped ?? '', place: entry.place, sample: entry.text })
      return 'dropped'
    }
    // compile-table.ts reads facts about networks.
    if (feed.kind === 'network') return 'kept'
    const once = onceSeen(day)
    const known = from.history?.markListed(range)
    const isNews = day > newestKnown
    if (isNews) newest = Math.max(newest, once.lastSeen) as Day
    const seen = known === undefined ? once : isNews ? mergeListedDays(known, once) : known
    return addRange(range, seen, entry) ? 'kept' : 'duplicate'
  }

  function addLapsed(): number {
    let lapsed = 0
    if (feed.kind === 'network') return 0
    for (const { range, seen, details } of from.history?.lapsed() ?? []) {
      const age = context.asOf - seen.lastSeen
      if (slowestDecay(feed.kind, age, feed.half_life_days) < fadedBelow) continue
      if (whyInadmissible(feed, range) !== undefined) continue
      if (addRange(range, seen, details as FactDetails)) lapsed++
    }
    return lapsed
  }

  return {
    /** Takes one entry of a snapshot; drops are counted in `tally`. */
    addEntry: (entry: Entry, day: Day, tally: ParseCounts): EntryOutcome =>
      entry.range === undefined && /^AS\d/i.test(entry.text)
        ? normaliseAsn(entry, tally)
        : normaliseRange(entry, day, tally),
    /** Makes the statements; `lapsed` counts ranges that are no longer listed. */
    finish() {
      const lapsed = addLapsed()
      const daysObserved = observedDays(from.history, { newest, asOf: context.asOf })
      const speakerOf = newSpeakers(feed, from, { daysObserved, asOf: context.asOf })
      for (const one of meantRanges) {
        const { range } = one
        const { source, evidenceOf } = speakerOf(range)
        const evidence = context.book.id({ source, evidence: evidenceOf(one), range })
        observe(context, { kind: feed.kind, evidence, range })
      }
      return { lapsed }
    },
  }
}

/** Resolvers are cut out of a bot's list of whole networks. */
function observe(
  { observations, resolvers }: NormaliseContext,
  of: { readonly kind: Feed['kind']; readonly evidence: number; readonly range: Range },
): void {
  const { kind, evidence, range } = of
  const { family } = range
  const held = kind === 'bot' ? subtract([range], resolvers[family]) : [range]
  for (const { first, last } of held) observations[family].push({ first, last, evidence })
}

function newSpeakers(
  feed: Feed,
  from: Pick<SpokenFrom, 'source' | 'networks'>,
  days: { readonly daysObserved: number; readonly asOf: Day },
) {
  const own = { source: from.source, evidenceOf: newEvidenceMaker(feed, days) }
  const { networks } = from
  if (networks === undefined) return () => own
  const wide = { source: networks.source, evidenceOf: newEvidenceMaker(networks.feed, days) }
  return (range: Range) => (isNetworkRange(range) ? wide : own)
}

/** compile-table.ts reads facts about ASes; here they are only counted. */
function normaliseAsn(entry: Entry, tally: ParseCounts): EntryOutcome {
  if (parseAsn(entry.text) !== undefined) return 'kept'
  countDrop(tally, { reason: 'not an ASN', place: entry.place, sample: entry.text })
  return 'dropped'
}

/** `AS64496` to 64496; `undefined` unless it is a 32-bit ASN above 0. */
export function parseAsn(text: string): number | undefined {
  const digits = /^AS(\d{1,10})$/i.exec(text)?.[1]
  const asn = Number(digits)
  return digits !== undefined && asn > 0 && asn < 2 ** 32 ? asn : undefined
}

export function voiceOf(feed: Feed): Voice {
  const { id, group, weight, assurance, rolling, asns } = feed
  return {
    id,
    group,
    weight,
    assurance,
    rolling,
    asns,
    ...(feed.half_life_days === undefined ? {} : { halfLives: feed.half_life_days }),
    ...(feed.consumer_vpn === true ? { consumer: true } : {}),
  }
}

/**
 * The /64 of an IPv6 range inside it, if that is a customer's line in an access network, where one
 * listed address stands for the whole line.
 */
function customerLine(kind: Feed['kind'], range: Range, inAccess: NormaliseContext['inAccess']) {
  if (range.family === 4 || kind === 'network' || !customerKinds.has(kind)) return undefined
  if (range.first >> 64n !== range.last >> 64n) return undefined
  bigintToWords(6, range.first, words)
  return inAccess(6, words) ? prefixRange(6, range.first, 64) : undefined
}

const words = newAddressWords()

function seenOnce(day: Day, asOf: Day): ListedDays {
  const seen = Math.min(day, asOf) as Day
  const age = asOf - seen
  return { firstSeen: seen, lastSeen: seen, listed: age < windowDays ? (1 << age) >>> 0 : 0 }
}

function observedDays(
  history: FeedHistory | undefined,
  days: { readonly newest: Day; readonly asOf: Day },
): number {
  const known = history?.days.at(-1)
  if (history === undefined || known === undefined) return 0
  const isMore = days.newest > known && days.asOf - days.newest < windowDays
  return history.daysObserved + (isMore ? 1 : 0)
}

/** Equal statements share an evidence object, which the book recognises by identity. */
function newEvidenceMaker(feed: Feed, from: { readonly daysObserved: number; readonly asOf: Day }) {
  const { asOf } = from
  const voice = voiceOf(feed)
  const kind = feed.kind === 'network' ? 'hosting' : feed.kind
  const ownCategory = feed.category === 'other' ? undefined : feed.category
  const shared = new Map<string, Evidence>()
  const named = memoise((written: string | undefined) => {
    const cleaned = cleanText(written ?? feed.provider)
    return kind === 'hosting' ? canonicalHoster(cleaned) : cleaned
  })
  return ({ match, details, seen }: MeantRange): Evidence => {
    const provider = named(details.provider)
    const lists = details.lists ?? 1
    const daysListed = countMaskDays(seen.listed)
    // What the history does not cover was observed on its own day.
    const daysObserved = Math.max(from.daysObserved, daysListed)
    const category = kind === 'bot' ? (details.category ?? ownCategory) : undefined
    const { firstSeen } = seen
    const lastSeen = Math.min(seen.lastSeen, asOf) as Day
    const days = `${firstSeen} ${lastSeen} ${daysListed}`
    const key = `${match} ${lists} ${category ?? ''} ${days} ${provider}`
    const known = shared.get(key)
    if (known !== undefined) return known
    const seenDays = { firstSeen, lastSeen, daysListed, daysObserved }
    const evidence: Evidence = { voice, kind, match, provider, category, lists, ...seenDays }
    shared.set(key, evidence)
    return evidence
  }
}
