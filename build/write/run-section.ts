// The runs of the table (src/table/answer/json-fragments.ts): the JSON of each network, region and
// location as it stands in answers, so that a lookup copies it with one or two reads of memory,
// where it would follow some ten strings.

import { networkWords } from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import { readNetwork } from '../../src/table/file/network-record.ts'
import { networkJson } from '../../src/table/file/row-json.ts'
import type { Strings } from '../../src/table/file/string-section.ts'
import { type RunCollector, newRunCollector } from '../layer/run-collector.ts'
import { localityJson } from '../places/place-runs.ts'
import type { TablePlaces } from '../places/table-places.ts'
import type { RegionCollector } from './region-section.ts'

type Named = Pick<SectionViews, 'networks' | 'string_offsets' | 'string_bytes'>

/** More than the run of a network takes; memory that is not filled costs none. */
const networkBytes = 160
/** What regions and added places take is little beside that. */
const otherBytes = 4 << 20

export function runSections(
  views: Named,
  of: { readonly places: TablePlaces; readonly regions: RegionCollector },
): Pick<SectionViews, 'network_runs' | 'location_runs' | 'regions' | 'runs'> {
  const { networks } = views
  const { places, regions } = of
  const strings = allStrings(views)
  const networksCount = networks.length / networkWords
  const collector = newRunCollector(
    networksCount * networkBytes + places.runs.runs.byteLength + otherBytes,
  )
  const networkRuns = new Uint32Array(networksCount)
  for (let id = 1; id <= networksCount; id++) {
    networkRuns[id - 1] = collector.add(networkJson(readNetwork(networks, id, strings)), 0)
  }
  const regionRows = regions.rows((text) => collector.add(text, 0))
  const locationRuns = addPlaces(collector, places, regions)
  return {
    network_runs: networkRuns,
    regions: regionRows,
    location_runs: locationRuns,
    runs: collector.runs(),
  }
}

/** The section `location_runs`. */
function addPlaces(
  collector: RunCollector,
  { runs: { runs, starts }, added }: TablePlaces,
  { ofRead, ofAdded }: RegionCollector,
): Uint32Array {
  const from = collector.append(runs)
  const places = new Uint32Array(starts.length + added.length)
  for (let index = 0; index < starts.length; index++) {
    places[index] = from + starts[index]!
    collector.setFacts(places[index]!, ofRead[index]!)
  }
  added.forEach((location, index) => {
    places[starts.length + index] = collector.add(localityJson(location), ofAdded[index]!)
  })
  return places
}

/** Decodes all at once, for each is read some ten times. A serving process caches only some. */
function allStrings({ string_offsets: offsets, string_bytes: bytes }: Named): Strings {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const texts = Array.from({ length: offsets.length - 1 }, (_, id) =>
    all.toString('utf8', offsets[id], offsets[id + 1]),
  )
  return { text: (id) => texts[id] ?? '' }
}
