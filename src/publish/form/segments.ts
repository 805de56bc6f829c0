// Cuts a table file into segments: a segment for each section, in the shape that changes least from
// day to day; the bytes between them (header, length words, trailer) are the frame. Shapes are
// measured; since the index states each, a bad one only costs bytes.
//
// A segment is cut into parts in its columns (columns.ts), by content (cut-points.ts). Columns
// begin with a new part, so the cuts of one do not move those of the next.

import { type SectionName, sectionNames, sectionWords } from '../../schema/table-sections.ts'
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
/** Increasing values. */
const counting: ReadonlySet<SectionName> = new Set<SectionName>([
  'ipv4_index',
  'ipv6_index',
  'ipv6_keys',
  'ipv6_tail_groups',
  'networks',
  'reason_lists',
  'evidence_lists',
  'string_offsets',
  'density_lists',
  'network_runs',
  'location_runs',
  'ipv6_second',
  'ipv6_third',
])

function shapeOf(name: SectionName): Shape {
  const [words, steps] = [sectionWords[name], counting.has(name)]
  return words > 1 || steps ? { words, steps } : raw
}

/** In file order, the frame last. */
export function tableSegments({ views }: Pick<TableView, 'views'>, file: Uint8Array): Segment[] {
  const sections = sectionNames
    .map((name): Segment => {
      const { byteOffset, byteLength } = views[name]
      return { name, from: byteOffset - file.byteOffset, bytes: byteLength, ...shapeOf(name) }
    })
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => a.from - b.from)
  const inside = sections.reduce((sum, { bytes }) => sum + bytes, 0)
  return [...sections, { name: frameName, from: 0, bytes: file.length - inside, ...raw }]
}

/**
 * Segment by segment, to bound memory; each is valid until the next. `all` are those of the file,
 * of which `segments` may be some.
 */
export function* cutTable(file: Uint8Array, segments: readonly Segment[], all = segments) {
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
