// Cuts a table file into segments: each section, with the shape in which most of it stays the same
// from day to day; what lies between them (header, length words, trailer) is the frame. Shapes are
// measured; a wrong one only costs bytes, because the index of the parts states each.
//
// A segment is cut into parts in its columns (columns.ts), by content (cut-points.ts). A column
// begins a part, so the cuts of one do not move those of the next.

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
/** Their values count upwards. */
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

/** In the order of the file, the frame behind them. */
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
 * Segment by segment, to bound memory; one is valid until the next is asked for. `all` are those of
 * the file, `segments` perhaps some.
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
