// Merges adjacent ranges of one value into the fewest ranges of a projection. IPv4 first.

import { type Family, newAddressWords } from '../ip/address.ts'
import type { SectionViews } from '../schema/table-sections.ts'
import { writeBefore } from '../ip/prefix-split.ts'
import { type Answering, type VisitStart, walkFamily } from './piece-walk.ts'

export interface RunSink {
  /** Words as in piece-walk.ts. */
  readonly run: (first: Uint32Array, last: Uint32Array, value: number, family: Family) => void
  readonly progress?: (share: number) => void
}

const progressPieces = 1 << 18

const lastOf: Readonly<Record<Family, Uint32Array>> = {
  4: Uint32Array.of(0, 0, 0, 0xffff_ffff),
  6: new Uint32Array(4).fill(0xffff_ffff),
}

/** Calls `valueOf` once for each piece. */
export function walkRuns(
  views: SectionViews,
  valueOf: (is: Answering, family: Family) => number,
  { run, progress }: RunSink,
): void {
  const pieces = views.ipv4_starts.length + views.ipv6_records.length
  let seen = 0
  const valueOfPiece = (is: Answering, family: Family): number => {
    if ((++seen & (progressPieces - 1)) === 0) progress?.(Math.min(1, seen / pieces))
    return valueOf(is, family)
  }
  mergeRuns((family, visit) => walkFamily(views, family, visit), valueOfPiece, run)
}

/** `walk` visits the starts of pieces once, ascending; negative values are left out. */
export function mergeRuns(
  walk: (family: Family, visit: VisitStart) => void,
  valueOf: (is: Answering, family: Family, start: Uint32Array) => number,
  run: RunSink['run'],
): void {
  const first = newAddressWords()
  const last = newAddressWords()
  for (const family of [4, 6] as const) {
    let value = -1
    walk(family, (start, is) => {
      const next = valueOf(is, family, start)
      if (next === value) return
      if (value >= 0) {
        writeBefore(start, last)
        run(first, last, value, family)
      }
      first.set(start)
      value = next
    })
    if (value >= 0) run(first, lastOf[family], value, family)
  }
}
