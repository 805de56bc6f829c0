// The table's sources: contributor, day and licence. Their order numbers the evidence, so it
// depends only on the inputs.

import { basename } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import type { Source, SourceVoice } from '../../src/table/file/table-source.ts'
import type { DataSetFeed, Feed } from '../catalogue/feed.ts'
import type { Networks } from '../networks/read-networks.ts'
import type { Places } from '../places/read-places.ts'
import { hostersFeed, namesFeed, neighbourFeeds, networksPart } from './builtin-feeds.ts'
import { type DataEdition, embeddedEdition } from './data-edition.ts'
import { voiceOf } from './normalise.ts'
import type { ParsedSnapshot } from './read-snapshots.ts'

export const networksSourceId = 'ip-location-db-asn'

/** An edition that acceptance of data sets chose. */
interface EditionInUse {
  readonly edition: DataEdition
  /** Whose it is; the embedded edition may be another's. */
  readonly feed: Pick<DataSetFeed, 'provider' | 'licence' | 'homepage'>
  readonly from: string
  /** Why a newer one is kept out. */
  readonly quarantine?: object
}

const embeddedNetworks = {
  provider: 'RouteViews and DB-IP, by ip-location-db',
  licence: 'CC-BY-4.0',
  homepage: 'https://github.com/sapics/ip-location-db',
} as const

const embeddedPlaces = {
  provider: 'DB-IP',
  licence: 'CC-BY-4.0',
  homepage: 'https://db-ip.com/',
} as const

export function networkSources(
  files: readonly string[] | undefined,
  networks: Networks,
  asOf: Day,
  inUse?: EditionInUse,
): readonly Source[] {
  const base = { kind: 'network', day: asOf, entries: networks.stats.rowCount }
  if (files !== undefined) return files.map((file) => operatorsOwn(file, base))
  const day = (inUse?.edition ?? embeddedEdition('networks'))?.day ?? asOf
  const isFetched = inUse !== undefined && inUse.from !== 'embedded'
  const { provider, licence, homepage } = isFetched ? inUse.feed : embeddedNetworks
  const held = heldBack(inUse?.quarantine !== undefined)
  return [{ ...base, day, id: networksSourceId, provider, licence, homepage, ...held }]
}

const heldBack = (isHeld: boolean): Pick<Source, 'quarantined'> =>
  isHeld ? { quarantined: true } : {}

export function placeSources(places: Pick<Places, 'files'>, asOf: Day, inUse?: EditionInUse) {
  return places.files.map(({ path, day = asOf, recordCount }) => {
    const base = { kind: 'location', day, entries: recordCount }
    const isOfDataSet = inUse?.edition.files.includes(path) ?? path.includes('@ip-location-db')
    if (!isOfDataSet) return operatorsOwn(path, base)
    const held = heldBack(inUse?.quarantine !== undefined)
    return { ...base, id: basename(path, '.mmdb'), ...embeddedPlaces, ...held }
  })
}

/**
 * One source for each feed that gave entries, the hosters' table and the organizations' names.
 * Quarantined feeds are included even without content, so that the server can show them.
 */
export function feedSources(
  files: readonly ParsedSnapshot[],
  asOf: Day,
  quarantined: { readonly has: (feedId: string) => boolean } = new Set(),
): readonly Source[] {
  const sources = new Map<string, Source>()
  for (const { feed, day, entries, problem } of files) {
    if (problem !== undefined) continue
    const known = sources.get(feed.id)
    sources.set(feed.id, {
      id: feed.id,
      kind: feed.kind,
      provider: feed.provider === '' ? feed.title : feed.provider,
      licence: feed.licence,
      homepage: feed.homepage,
      day: Math.max(Math.min(day, asOf), known?.day ?? 0) as Day,
      entries: entries.length + (known?.entries ?? 0),
      ...heldBack(quarantined.has(feed.id)),
      voice: voiceWithInterval(feed),
    })
  }
  const parts = files.flatMap(({ feed }) => networksPart(feed) ?? [])
  for (const feed of [hostersFeed, namesFeed, ...Object.values(neighbourFeeds), ...parts]) {
    const { id, kind, title, licence, homepage } = feed
    const voice = voiceWithInterval(feed)
    const entries = sources.get(id)?.entries ?? 0
    sources.set(id, { id, kind, provider: title, licence, homepage, day: asOf, entries, voice })
  }
  return [...sources.values()]
}

/** Without control characters: an operator's file may have any name. */
export const cleanSource = (source: Source): Source => ({
  ...source,
  id: cleanText(source.id),
  provider: cleanText(source.provider),
  licence: cleanText(source.licence),
  homepage: cleanText(source.homepage),
})

function operatorsOwn(
  file: string,
  base: { readonly kind: string; readonly day: Day; readonly entries: number },
): Source {
  return { ...base, id: basename(file), provider: '', licence: "the operator's own", homepage: '' }
}

// How far a feed's weight may be off, which gives score_range. A weight is the mean of a Beta
// distribution (bench/detection/calibration/measured-weight.ts). Its spread is that of the prior, a
// + b by the publisher's assurance: measurements only narrow it.
//
//   sd = sqrt(w (1 - w) / (a + b + 1))        interval = w +- 1.2816 sd, cut at 0 and 1: 80 percent
//
// A weak feed of weight 0.5, a + b = 10: sd 0.151, from 0.31 to 0.69. An own list has no spread.

const deviations = 1.2816

function voiceWithInterval(feed: Feed): SourceVoice {
  const { id: _id, ...voice } = voiceOf(feed)
  const { weight } = voice
  const { successes, failures } = assurancePriors[publisherAssurance(feed)]
  const spread = deviations * Math.sqrt((weight * (1 - weight)) / (successes + failures + 1))
  return { ...voice, weightLow: round(weight - spread), weightHigh: round(weight + spread) }
}

const round = (weight: number): number => Math.round(Math.min(1, Math.max(0, weight)) * 100) / 100

// What is believed of a publisher's list before it is measured (measured-weight.ts).

/** `own`: an operator's list of its own addresses; `tested`: direct, by testing the address. */
type PublisherAssurance = 'own' | 'tested' | 'good' | 'weak'

interface BetaPrior {
  readonly successes: number
  readonly failures: number
}

export const assurancePriors: Readonly<Record<PublisherAssurance, BetaPrior>> = {
  own: { successes: 19, failures: 1 },
  tested: { successes: 9, failures: 1 },
  good: { successes: 8, failures: 2 },
  weak: { successes: 5, failures: 5 },
}

export function publisherAssurance({
  assurance,
  provider,
}: Pick<Feed, 'assurance' | 'provider'>): PublisherAssurance {
  if (assurance !== 'direct') return assurance
  return provider === '' ? 'tested' : 'own'
}
