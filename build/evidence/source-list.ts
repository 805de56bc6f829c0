// The table's list of sources: who contributed, of which day, and what their licences ask to be
// said. Its order is the numbering of evidence, so it depends on nothing but the inputs.

import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { cleanText } from '../../src/base/clean-text.ts'
import { type Day, parseDay } from '../../src/base/day.ts'
import { hostersFeed, namesFeed } from './builtin-feeds.ts'
import { voiceWithInterval } from './weight-interval.ts'
import type { Networks } from '../networks/read-networks.ts'
import type { Places } from '../places/read-places.ts'
import type { ParsedSnapshot } from './read-snapshots.ts'
import type { Source } from '../../src/table/file/table-source.ts'

/** Origin AS data. */
export function networkSources(
  files: readonly string[] | undefined,
  networks: Networks,
  asOf: Day,
): readonly Source[] {
  const entries = networks.stats.rowCount
  const base = { kind: 'network', day: asOf, entries }
  return files === undefined
    ? [
        {
          ...base,
          day: packagedDay('@ip-location-db/asn') ?? asOf,
          id: 'ip-location-db-asn',
          provider: 'RouteViews and DB-IP, by ip-location-db',
          licence: 'CC-BY-4.0',
          homepage: 'https://github.com/sapics/ip-location-db',
        },
      ]
    : files.map((file) => operatorsOwn(file, base))
}

/** Place data. */
export function placeSources(places: Places, asOf: Day): readonly Source[] {
  return places.files.map((file) => {
    const base = { kind: 'location', day: file.day ?? asOf, entries: file.recordCount }
    return file.path.includes('@ip-location-db')
      ? {
          ...base,
          id: basename(file.path, '.mmdb'),
          provider: 'DB-IP',
          licence: 'CC-BY-4.0',
          homepage: 'https://db-ip.com/',
        }
      : operatorsOwn(file.path, base)
  })
}

/**
 * One source for each feed that gave entries, the hosters' table and the organizations' names. A
 * quarantined feed is one, too, even where nothing stands in for it, so that the server can show
 * it.
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
      ...(quarantined.has(feed.id) ? { quarantined: true } : {}),
      voice: voiceWithInterval(feed),
    })
  }
  for (const feed of [hostersFeed, namesFeed]) {
    const { id, kind, title, licence, homepage } = feed
    const voice = voiceWithInterval(feed)
    sources.set(id, { id, kind, provider: title, licence, homepage, day: asOf, entries: 0, voice })
  }
  return [...sources.values()]
}

/** As the table names it: an operator's file, say, may be called anything. */
export function cleanSource(source: Source): Source {
  return {
    ...source,
    id: cleanText(source.id),
    provider: cleanText(source.provider),
    licence: cleanText(source.licence),
    homepage: cleanText(source.homepage),
  }
}

/** These packages carry the hour of their data in their version: `2.3.2026061719`. */
function packagedDay(name: string): Day | undefined {
  const manifest: unknown = createRequire(import.meta.url)(`${name}/package.json`)
  const { version } = manifest as { readonly version?: unknown }
  const digits = /\.(\d{4})(\d{2})(\d{2})\d{2}$/.exec(String(version))
  return digits === null ? undefined : parseDay(digits.slice(1).join('-'))
}

function operatorsOwn(
  file: string,
  base: { readonly kind: string; readonly day: Day; readonly entries: number },
): Source {
  return { ...base, id: basename(file), provider: '', licence: "the operator's own", homepage: '' }
}
