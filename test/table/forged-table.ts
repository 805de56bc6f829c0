// A table whose texts are whatever a forger wants, in the strings, the header and the id, with
// checksums that fit.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { runElementBytes, runElementWords, trailerBytes } from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import {
  locationJson,
  readLocality,
  regionOf,
  runBytes,
} from '../../src/table/file/location-record.ts'
import { readTrailer, writeTrailer } from '../../src/table/file/trailer.ts'
import { smallContent } from './small-table.ts'
import { encodedTable } from './encoded-table.ts'

export interface Forgery {
  /** What stands in the strings in place of each text. */
  readonly string?: (text: string) => string
  /** The same for the providers and licences of the sources. */
  readonly source?: (text: string) => string
  /** At most as long as an id, in bytes. */
  readonly id?: string
}

/** The file's bytes. */
export function forgedTable({ string, source, id }: Forgery): Buffer {
  const content = smallContent()
  const sources = content.sources.map((one) => ({
    ...one,
    provider: source?.(one.provider) ?? one.provider,
    licence: source?.(one.licence) ?? one.licence,
  }))
  const { string_offsets: offsets, string_bytes: bytes } = content.views
  const encoded = Array.from({ length: offsets.length - 1 }, (_, at) => {
    const text = Buffer.from(bytes.subarray(offsets[at], offsets[at + 1])).toString()
    return Buffer.from(text === '' ? '' : (string?.(text) ?? text))
  })
  let end = 0
  const views = {
    ...content.views,
    ...forgedPlaces(content.views, (text) => (text === '' ? '' : (string?.(text) ?? text))),
    string_offsets: Uint32Array.from([0, ...encoded.map((text) => (end += text.length))]),
    string_bytes: new Uint8Array(Buffer.concat(encoded)),
  }
  const made = encodedTable({ ...content, sources, views })
  const file = Buffer.from(made.bytes)
  if (id !== undefined) {
    const at = file.indexOf(made.id)
    file.write(id.padEnd(made.id.length, 'x'), at)
    const trailer = readTrailer(made.bytes, 'made')
    const headerCrc = crc32(file.subarray(0, trailer.headerBytes))
    file.set(writeTrailer({ ...trailer, headerCrc }), file.length - trailerBytes)
  }
  return file
}

/** The runs with other cities and zips: those of the locations behind the others once more. */
function forgedPlaces(
  views: SectionViews,
  change: (text: string) => string,
): Pick<SectionViews, 'location_runs' | 'runs'> {
  const pieces = [runBytes(views)]
  let at = views.runs.length / runElementWords
  const location_runs = views.location_runs.map((_, index) => {
    const { city, zip, ...rest } = readLocality(views, index + 1)
    const text = Buffer.from(locationJson({ city: change(city), zip: change(zip), ...rest }))
    const elements = 1 + Math.ceil(text.length / runElementBytes)
    const run = Buffer.alloc(elements * runElementBytes)
    run.writeUInt32LE(text.length, 0)
    run.writeUInt32LE(regionOf(views, index + 1), 4)
    text.copy(run, runElementBytes)
    pieces.push(run)
    at += elements
    return at - elements
  })
  const bytes = new Uint8Array(Buffer.concat(pieces))
  return { location_runs, runs: new Uint32Array(bytes.buffer) }
}

/** Writes it into a new folder and gives its path. */
export function writeForgedTable(forgery: Forgery): string {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-table-')), 'forged.iprisk')
  writeFileSync(path, forgedTable(forgery))
  return path
}
