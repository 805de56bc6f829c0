// Typed views of a table file's sections, without copying. Checks what a lookup needs (trailer,
// header, alignment, matching lengths inside the file); `verifyTable` checks the content.

import { IpriskError } from '../../base/coded-error.ts'
import { crc32 } from 'node:zlib'
import { ByteBuffer } from 'flatbuffers'
import { TableHeader } from '../../schema/generated/iprisk/table-header.ts'
import * as layout from '../../schema/table-layout.ts'
import {
  type SectionName,
  type SectionView,
  type SectionViews,
  readSection,
  sectionNames,
  sectionWords,
} from '../../schema/table-sections.ts'
import { readHeaderFacts } from './header.ts'
import { checksumMismatch, otherVersion, tableCorrupt } from './table-corrupt.ts'
import { readTrailer } from './trailer.ts'

export interface TableView extends Readonly<ReturnType<typeof readHeaderFacts>> {
  readonly checksums: Readonly<Record<SectionName, number>>
  readonly views: SectionViews
  readonly headerBytes: number
}

/** Throws `table_corrupt` (with section and offset) or `table_version`. */
export function readTableView(bytes: Uint8Array, path: string): TableView {
  const trailer = readTrailer(bytes, path)
  const buffer = new ByteBuffer(bytes)
  if (!TableHeader.bufferHasIdentifier(buffer)) {
    throw tableCorrupt(path, 'header', 4, 'its identifier is not IPRK')
  }
  const header = TableHeader.getRootAsTableHeader(buffer)
  try {
    return readHeader(bytes, header, trailer.headerBytes, path)
  } catch (error) {
    if (error instanceof IpriskError) throw error
    // The checksum matches, so it was forged: an offset leads out of the file.
    throw tableCorrupt(path, 'header', 0, 'it leads out of the file')
  }
}

function readHeader(
  bytes: Uint8Array,
  header: TableHeader,
  headerBytes: number,
  path: string,
): TableView {
  // Each entry has a four-byte offset in the header.
  const entries = [header.sourcesLength(), header.checksumsLength(), header.kindsLength()]
  if (Math.max(...entries) > headerBytes / 4) {
    throw tableCorrupt(path, 'header', 0, 'it has more entries than room for them')
  }
  if (headerBytes > layout.headerBytesMax) {
    throw tableCorrupt(
      path,
      'header',
      0,
      `it has ${headerBytes} bytes, over ${layout.headerBytesMax}`,
    )
  }
  const checksums = readChecksums(header, path)
  const views = readViews(bytes, header, headerBytes, path)
  checkLengths(views, path)
  return { ...readHeaderFacts(header, headerBytes, path), checksums, views, headerBytes }
}

/**
 * One literal: from the twelfth computed member on, V8 makes a dictionary, which slows every lookup
 * (IPv4 search 95 ns instead of 43).
 */
function readViews(
  bytes: Uint8Array,
  header: TableHeader,
  headerBytes: number,
  path: string,
): SectionViews {
  const read = <Name extends SectionName>(name: Name): SectionViews[Name] => {
    const view = readView(header, name, path)
    const offset = view.byteOffset - bytes.byteOffset
    const end = offset + view.byteLength
    if (offset < headerBytes || end > bytes.length - layout.trailerBytes) {
      throw tableCorrupt(path, name, offset, `it reaches to ${end}, outside the file`)
    }
    if (offset % layout.sectionAlignment !== 0)
      throw tableCorrupt(path, name, offset, 'it is not aligned')
    return view as SectionViews[Name]
  }
  return {
    ipv4_index: read('ipv4_index'),
    ipv4_starts: read('ipv4_starts'),
    ipv4_records: read('ipv4_records'),
    ipv6_index: read('ipv6_index'),
    ipv6_keys: read('ipv6_keys'),
    ipv6_records: read('ipv6_records'),
    ipv6_tail_groups: read('ipv6_tail_groups'),
    ipv6_tails: read('ipv6_tails'),
    ipv6_tail_records: read('ipv6_tail_records'),
    ipv6_second: read('ipv6_second'),
    ipv6_third: read('ipv6_third'),
    records: read('records'),
    networks: read('networks'),
    countries: read('countries'),
    regions: read('regions'),
    verdicts: read('verdicts'),
    reason_lists: read('reason_lists'),
    reasons: read('reasons'),
    evidence_lists: read('evidence_lists'),
    evidence_ids: read('evidence_ids'),
    evidence: read('evidence'),
    evidence_ranges: read('evidence_ranges'),
    string_offsets: read('string_offsets'),
    string_bytes: read('string_bytes'),
    density_lists: read('density_lists'),
    density_slots: read('density_slots'),
    densities: read('densities'),
    network_runs: read('network_runs'),
    location_runs: read('location_runs'),
    runs: read('runs'),
  }
}

function readView(header: TableHeader, name: SectionName, path: string): SectionView {
  let view: SectionView | null
  try {
    view = readSection(header, name)
  } catch {
    // A typed array outside the file: the length is wrong.
    throw tableCorrupt(path, name, 0, 'its length does not fit into the file')
  }
  if (view === null) throw tableCorrupt(path, name, 0, 'it is missing')
  return view
}

function readChecksums(header: TableHeader, path: string): Readonly<Record<SectionName, number>> {
  const found = new Map<string, number>()
  for (let index = 0; index < header.checksumsLength(); index++) {
    const entry = header.checksums(index)
    found.set(entry?.name() ?? '', entry?.crc32() ?? 0)
  }
  const checksums: Partial<Record<SectionName, number>> = {}
  for (const name of sectionNames) {
    const crc = found.get(name)
    // The header's checksum matches: made by a program without this section.
    if (crc === undefined) throw otherVersion(path, 'no such section', name)
    checksums[name] = crc
  }
  return checksums as Readonly<Record<SectionName, number>>
}

/** Matching lengths, so that no lookup can leave a section. */
function checkLengths(views: SectionViews, path: string): void {
  for (const name of sectionNames) {
    const { length } = views[name]
    const words = sectionWords[name]
    if (length % words !== 0) {
      throw tableCorrupt(path, name, 0, `${length} words are not a multiple of ${words}`)
    }
  }
  const indexLength = views.ipv4_index.length
  const { min, max } = layout.ipv4IndexBits
  const bits = Math.min(max, Math.max(min, Math.floor(Math.log2(indexLength))))
  const keys = views.ipv6_keys.length
  const networks = views.networks.length / layout.networkWords
  const equals: readonly (readonly [SectionName, number])[] = [
    ['ipv4_index', 2 ** bits + 1],
    ['ipv6_index', layout.ipv6IndexBuckets + 1],
    ['ipv4_records', views.ipv4_starts.length],
    ['ipv6_records', keys],
    ['ipv6_tail_records', views.ipv6_tails.length / layout.tailWords],
    ['density_lists', networks + 1],
    ['density_slots', views.densities.length],
    ['network_runs', networks],
    // The last usable element, for any keys, is the one after the last slot.
    ['ipv6_second', (keys >>> layout.secondLevel.share) + 1],
    ['ipv6_third', (keys >>> layout.thirdLevel.share) + 1],
  ]
  for (const [name, length] of equals) {
    if (views[name].length !== length) {
      throw tableCorrupt(path, name, 0, `it has ${views[name].length} elements, not ${length}`)
    }
  }
  for (const name of ['ipv4_starts', 'ipv6_keys', 'ipv6_tail_groups', 'string_offsets'] as const) {
    if (views[name].length === 0) throw tableCorrupt(path, name, 0, 'it is empty')
  }
}

// Compares the sections' checksums in a tenth of a second (`verifyTable` takes ten times that):
// detects damage, not forgery.

const pieceBytes = 2 ** 23

/** In steps of milliseconds. Throws `table_corrupt` for the first difference. */
export function* compareChecksums(
  file: Uint8Array,
  { views, checksums }: Pick<TableView, 'views' | 'checksums'>,
  path: string,
): Generator<undefined, void, undefined> {
  for (const name of sectionNames) {
    const { buffer, byteOffset, byteLength } = views[name]
    let found = 0
    for (let at = 0; at < byteLength; at += pieceBytes) {
      const bytes = Math.min(pieceBytes, byteLength - at)
      found = crc32(new Uint8Array(buffer, byteOffset + at, bytes), found)
      yield
    }
    const expected = checksums[name]
    if (found === expected) continue
    const why = checksumMismatch({ expected, found })
    throw tableCorrupt(path, name, byteOffset - file.byteOffset, why)
  }
}
