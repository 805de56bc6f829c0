// Cuts a table file into segments: each section, with the shape in which most of it stays the same
// from day to day; what lies between them (header, length words, trailer) is the frame. Shapes are
// measured; a wrong one only costs bytes, because the index of the parts states each.
//
// A segment is cut into parts in its columns (columns.ts), by content (cut-points.ts). A column
// begins a part, so the cuts of one do not move those of the next.

import type { SectionName } from '../../schema/table-sections.ts'
import { sectionNames } from '../../schema/table-sections.ts'
import {
  countryWords,
  evidenceRangeWords,
  evidenceWords,
  networkWords,
  recordWords,
  regionWords,
  tailWords,
  verdictWords,
} from '../../schema/table-layout.ts'
import type { TableView } from '../../table/file/table-view.ts'
import { nextCut } from './cut-points.ts'
import { frameName, frameRanges } from './part-index.ts'
import { type Shape, toPlanes } from './columns.ts'

export interface Segment extends Shape {
  readonly name: string
  /** 0 for the frame. */
  readonly from: number
  readonly bytes: number
}

const raw: Shape = { words: 0, steps: false }
const counting: Shape = { words: 1, steps: true }
const columns = (words: number): Shape => ({ words, steps: false })

const shapes: Readonly<Record<SectionName, Shape>> = {
  ipv4_index: counting,
  ipv4_starts: raw,
  ipv4_records: raw,
  ipv6_index: counting,
  ipv6_keys: counting,
  ipv6_records: raw,
  ipv6_tail_groups: counting,
  ipv6_tails: columns(tailWords),
  ipv6_tail_records: raw,
  records: columns(recordWords),
  networks: { words: networkWords, steps: true },
  countries: columns(countryWords),
  regions: columns(regionWords),
  verdicts: columns(verdictWords),
  reason_lists: counting,
  reasons: raw,
  evidence_lists: counting,
  evidence_ids: raw,
  evidence: columns(evidenceWords),
  evidence_ranges: columns(evidenceRangeWords),
  string_offsets: counting,
  string_bytes: raw,
  density_lists: counting,
  density_slots: raw,
  densities: raw,
  network_runs: counting,
  location_runs: counting,
  runs: raw,
  ipv6_second: counting,
  ipv6_third: counting,
}

/** In the order of the file, the frame behind them. */
export function tableSegments({ views }: Pick<TableView, 'views'>, file: Uint8Array): Segment[] {
  const sections = sectionNames
    .map((name): Segment => {
      const { byteOffset, byteLength } = views[name]
      return { name, from: byteOffset - file.byteOffset, bytes: byteLength, ...shapes[name] }
    })
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => a.from - b.from)
  const inside = sections.reduce((sum, { bytes }) => sum + bytes, 0)
  return [...sections, { name: frameName, from: 0, bytes: file.length - inside, ...raw }]
}

/** Valid until the next segment is asked for. */
export interface SegmentParts {
  readonly segment: Segment
  readonly parts: readonly Uint8Array[]
}

/** Segment by segment, to bound memory. `all` are those of the file, `segments` perhaps some. */
export function* cutTable(
  file: Uint8Array,
  segments: readonly Segment[],
  all = segments,
): Generator<SegmentParts, void, undefined> {
  for (const segment of segments) {
    const { from, bytes, words } = segment
    const rows = segment.name === frameName ? frameOf(file, all) : file.subarray(from, from + bytes)
    const planes = toPlanes(rows, segment)
    const columnBytes = planes.length / Math.max(1, words)
    const parts: Uint8Array[] = []
    for (let column = 0; column < planes.length; column += columnBytes) {
      const end = column + columnBytes
      for (let at = column; at < end;) {
        const cut = nextCut(planes, at, end)
        parts.push(planes.subarray(at, cut))
        at = cut
      }
    }
    yield { segment, parts }
  }
}

function frameOf(file: Uint8Array, segments: readonly Segment[]): Uint8Array {
  const ranges = frameRanges(segments, file.length)
  return Buffer.concat(ranges.map(([from, to]) => file.subarray(from, to)))
}
