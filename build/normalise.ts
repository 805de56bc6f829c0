// Normalise: entries as written become statements about ranges. Here, and only here, it is decided
// whether an entry's text is a sound address, prefix, range or ASN, whether it is too wide for its
// feed, and what it means: exact or range, a customer's IPv6 line, an AS list. Every entry that is
// not taken is counted under its reason and named while there are few.

import type { Day } from '../src/base/day.ts'
import { newWords } from '../src/ip/address.ts'
import { type Range, addressBits, parseRange, prefixRange, writeWords } from '../src/ip/range.ts'
import { setContains, subtract } from '../src/ip/set.ts'
import { bogonRanges } from '../src/ip/special.ts'
import type { Evidence, Voice } from '../src/model/evidence.ts'
import type { BotCategory, Kind, Match } from '../src/model/kind.ts'
import type { Feed } from './catalogue/feed.ts'
import type { EvidenceBook } from './evidence.ts'
import type { Observation } from './layer/flatten.ts'
import type { Entry } from './parse/entry.ts'
import { type Tally, countDrop } from './parse/tally.ts'

/** Days that percent_days_seen looks back (contract 3.5). */
const windowDays = 30

const special = { 4: bogonRanges(4), 6: bogonRanges(6) }

/** Kinds whose IPv6 address stands for its /64 in an access network (scoring.md, rule 4). */
const customerKinds: ReadonlySet<Kind> = new Set(['vpn', 'proxy', 'residential_proxy', 'blocklist'])

export interface Normaliser {
  /** Takes one entry of `feed`; what it cannot take goes to `tally`. */
  take(entry: Entry, tally: Tally): void
  readonly counts: { kept: number; duplicates: number }
}

/** What all feeds of one build share. */
export interface Ground {
  readonly asOf: Day
  readonly book: EvidenceBook
  readonly observations: Readonly<Record<4 | 6, Observation[]>>
  /** Public resolvers: everybody's software asks them and no bot sends from them. */
  readonly resolvers: Readonly<Record<4 | 6, readonly Range[]>>
  /** Whether the address (words as parsed) lies in an access network. */
  readonly inAccess: (family: 4 | 6, words: Uint32Array) => boolean
}

/** A normaliser for one feed's snapshot of day `day`. `source` is its index in the table. */
export function newNormaliser(
  feed: Feed,
  snapshot: { readonly day: Day; readonly source: number },
  ground: Ground,
): Normaliser {
  const evidenceFor = newEvidenceMaker(feed, snapshot.day, ground.asOf)
  const counts = { kept: 0, duplicates: 0 }
  const words = newWords()

  function state(entry: Entry, match: Match, range: Range | undefined): number | undefined {
    const before = ground.book.count
    const id = ground.book.id({
      source: snapshot.source,
      evidence: evidenceFor(entry, match),
      range,
    })
    counts.kept++
    if (id <= before) {
      counts.duplicates++
      return undefined
    }
    return id
  }

  function takeRange(entry: Entry, tally: Tally): void {
    const range = parseRange(entry.text)
    const dropped = range === undefined ? 'not an address, prefix or range' : refuse(feed, range)
    if (range === undefined || dropped !== undefined) {
      countDrop(tally, { reason: dropped ?? '', place: entry.place, sample: entry.text })
      return
    }
    writeWords(range.family, range.first, words)
    const meant = customersLine(feed.kind, range, () => ground.inAccess(6, words))
    const exact = meant.first === meant.last || meant !== range || isLine(feed.kind, range, words)
    const id = state(entry, exact ? 'exact' : 'range', meant)
    if (id === undefined) return
    // A bot's list that holds a whole network holds its resolver, too: those are cut out.
    const held = feed.kind === 'bot' ? subtract([meant], ground.resolvers[meant.family]) : [meant]
    for (const { first, last } of held) {
      ground.observations[meant.family].push({ first, last, evidence: id })
    }
  }

  /** A /64 listed as such in an access network is a customer's line, too. */
  function isLine(kind: Feed['kind'], range: Range, at: Uint32Array): boolean {
    if (range.family !== 6 || kind === 'network' || !customerKinds.has(kind)) return false
    return range.last - range.first < 1n << 64n && isOne64(range) && ground.inAccess(6, at)
  }

  function takeAs(entry: Entry, tally: Tally): void {
    if (parseAsn(entry.text) === undefined) {
      countDrop(tally, { reason: 'not an ASN', place: entry.place, sample: entry.text })
      return
    }
    // What it says of the AS is the networks' to read (compile.ts); here it is only counted.
    counts.kept++
  }

  return {
    counts,
    take: (entry, tally) =>
      /^AS\d/i.test(entry.text) ? takeAs(entry, tally) : takeRange(entry, tally),
  }
}

/** `AS64496` to 64496; `undefined` for what is no 32-bit ASN above 0. */
export function parseAsn(text: string): number | undefined {
  const digits = /^AS(\d{1,10})$/i.exec(text)?.[1]
  const asn = Number(digits)
  return digits !== undefined && asn > 0 && asn < 2 ** 32 ? asn : undefined
}

/** What the model must know of a feed. */
export function voiceOf(feed: Feed): Voice {
  const { id, group, weight, assurance, rolling, asns } = feed
  return { id, group, weight, assurance, rolling, asns }
}

/** Why a range is not taken, or `undefined`. */
function refuse(feed: Feed, range: Range): string | undefined {
  const bits = range.family === 4 ? feed.widest.ipv4 : feed.widest.ipv6
  if (range.last - range.first >= 1n << BigInt(addressBits(range.family) - bits)) {
    return `wider than /${bits}`
  }
  const set = special[range.family]
  return setContains(set, range.first) && setContains(set, range.last)
    ? 'special-purpose address space'
    : undefined
}

function isOne64(range: Range): boolean {
  return range.first >> 64n === range.last >> 64n
}

/** In an access network what is listed inside a /64 counts for the whole /64. */
function customersLine(kind: Feed['kind'], range: Range, inAccess: () => boolean): Range {
  if (range.family !== 6 || kind === 'network' || !customerKinds.has(kind)) return range
  if (!isOne64(range) || range.last - range.first === (1n << 64n) - 1n) return range
  return inAccess() ? prefixRange(6, range.first, 64) : range
}

/**
 * Evidence objects are shared between entries that say the same, so that the book recognises them by
 * identity. One snapshot is one day seen and one observed; the history store refines this.
 */
function newEvidenceMaker(feed: Feed, day: Day, asOf: Day) {
  const voice = voiceOf(feed)
  const kind = feed.kind === 'network' ? 'hosting' : feed.kind
  const seen = Math.min(day, asOf) as Day
  const inWindow = asOf - seen < windowDays ? 1 : 0
  const category: BotCategory | undefined =
    feed.category === 'other' || feed.category === undefined ? undefined : feed.category
  const shared = new Map<string, Evidence>()
  return (entry: Entry, match: Match): Evidence => {
    const provider = entry.provider ?? feed.provider
    const lists = entry.lists ?? 1
    const key = `${match} ${lists} ${entry.category ?? ''} ${provider}`
    const known = shared.get(key)
    if (known !== undefined) return known
    const evidence: Evidence = {
      voice,
      kind,
      match,
      provider,
      category: kind === 'bot' ? (entry.category ?? category) : undefined,
      lists,
      firstSeen: seen,
      lastSeen: seen,
      daysListed: inWindow,
      daysObserved: inWindow,
    }
    shared.set(key, evidence)
    return evidence
  }
}
