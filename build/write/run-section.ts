// The runs of the table (src/table/answer/json-run.ts): the JSON of each network, region and
// location as it stands in answers, so that a lookup copies it with one or two reads of memory,
// where it would follow some ten strings.

import type { Location } from '../../src/api/check-answer.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import { degreeScale, networkWords, runElementBytes } from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import type { Locality } from '../../src/table/file/location-record.ts'
import { readNetwork } from '../../src/table/file/network-record.ts'
import { locationJson, networkJson } from '../../src/table/file/row-json.ts'
import type { Strings } from '../../src/table/file/string-section.ts'
import type { RegionCollector } from './region-section.ts'

type Named = Pick<SectionViews, 'networks' | 'string_offsets' | 'string_bytes'>

/** About what a run of the world takes; the room grows where that is too little. */
const bytesExpected = 88

export function runSections(
  views: Named,
  places: { readonly locations: readonly Location[]; readonly regions: RegionCollector },
): Pick<SectionViews, 'network_runs' | 'location_runs' | 'regions' | 'runs'> {
  const { networks } = views
  const { locations, regions } = places
  const strings = allStrings(views)
  const networksCount = networks.length / networkWords
  const book = newRunCollector((networksCount + locations.length) * bytesExpected)
  const networkRuns = new Uint32Array(networksCount)
  for (let id = 1; id <= networksCount; id++) {
    networkRuns[id - 1] = book.add(networkJson(readNetwork(networks, id, strings)), 0)
  }
  const regionRows = regions.rows((text) => book.add(text, 0))
  const locationRuns = Uint32Array.from(locations, (location, index) =>
    book.add(locationJson(localityOf(location)), regions.ofLocation[index]!),
  )
  return {
    network_runs: networkRuns,
    regions: regionRows,
    location_runs: locationRuns,
    runs: book.runs(),
  }
}

function localityOf({ city, zip, latitude, longitude }: Location): Locality {
  return {
    city: cleanText(city),
    zip: cleanText(zip),
    latitude: wholeTenThousandths(latitude),
    longitude: wholeTenThousandths(longitude),
  }
}

/** `+ 0` turns -0 into 0. */
function wholeTenThousandths(degrees: number): number {
  return Math.round(degrees * degreeScale) / degreeScale + 0
}

/** Decodes all at once, for each is read some ten times. A serving process caches only some. */
function allStrings({ string_offsets: offsets, string_bytes: bytes }: Named): Strings {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const texts = Array.from({ length: offsets.length - 1 }, (_, id) =>
    all.toString('utf8', offsets[id], offsets[id + 1]),
  )
  return { text: (id) => texts[id] ?? '' }
}

function newRunCollector(bytes: number) {
  let room = Buffer.alloc(bytes + runElementBytes)
  let end = 0
  return {
    /** The element at which the run begins. */
    add(text: string, facts: number): number {
      // No character takes more than three bytes.
      const needed = end + 2 * runElementBytes + text.length * 3
      if (needed > room.length) room = Buffer.concat([room, Buffer.alloc(room.length + needed)])
      const begin = end / runElementBytes
      const written = room.write(text, end + runElementBytes, 'utf8')
      room.writeUInt32LE(written, end)
      room.writeUInt32LE(facts, end + 4)
      end += runElementBytes * (1 + Math.ceil(written / runElementBytes))
      return begin
    },
    /** All of them, to be read once no more are added. */
    runs: () => new Uint32Array(room.buffer, room.byteOffset, end / 4),
  }
}
