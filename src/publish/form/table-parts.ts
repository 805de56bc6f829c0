// A table file as parts: each segment in its columns (planes.ts), cut where its content says
// (cut-points.ts). A column begins a part, so what one column does moves no cut of the next.

import { frameName, frameRanges } from './part-index.ts'
import { toPlanes } from './planes.ts'
import { nextCut } from './cut-points.ts'
import type { Segment } from './segments.ts'

/** The parts of one segment. Their bytes are valid until the next segment is asked for. */
export interface SegmentParts {
  readonly segment: Segment
  readonly parts: readonly Uint8Array[]
}

/**
 * Segment by segment, so that not the whole table is in memory twice. `all` are the segments of the
 * file, of which `segments` may be some.
 */
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
