// The runs of the table (src/table/answer/json-run.ts): the JSON of each network and of each
// location as it stands in answers, so that a lookup copies it with one or two reads of memory,
// where it would follow some ten strings. They are made of what the answers' slow twin reads from
// the same sections.

import {
  locationWords,
  networkWords,
  runCountryBits,
  runElementBytes,
} from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import { readLocality } from '../../src/table/file/location-record.ts'
import { readNetwork } from '../../src/table/file/network-record.ts'
import { locationJson, networkJson } from '../../src/table/file/row-json.ts'
import type { Strings } from '../../src/table/file/string-section.ts'

type Named = Pick<
  SectionViews,
  'networks' | 'countries' | 'locations' | 'string_offsets' | 'string_bytes'
>

/** About what a run of the world takes; the room grows where that is too little. */
const bytesExpected = 128

export function runSections(
  views: Named,
): Pick<SectionViews, 'network_runs' | 'location_runs' | 'runs'> {
  const { networks, locations } = views
  const strings = allStrings(views)
  const networksCount = networks.length / networkWords
  const locationsCount = locations.length / locationWords
  const book = newRunCollector((networksCount + locationsCount) * bytesExpected)
  const networkRuns = new Uint32Array(networksCount)
  for (let id = 1; id <= networksCount; id++) {
    networkRuns[id - 1] = book.add(networkJson(readNetwork(networks, id, strings)), 0)
  }
  const locationRuns = new Uint32Array(locationsCount)
  for (let id = 1; id <= locationsCount; id++) {
    const at = (id - 1) * locationWords
    const facts = locations[at]! + locations[at + 7]! * 2 ** runCountryBits
    locationRuns[id - 1] = book.add(locationJson(readLocality(locations, id, strings)), facts)
  }
  return { network_runs: networkRuns, location_runs: locationRuns, runs: book.runs() }
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
    runs: () => new Float64Array(room.buffer, room.byteOffset, end / runElementBytes),
  }
}
