// What a feed listed on one day: distinct, sorted ranges with their entries' details, and a hash to
// compare days. Host bits are masked and inadmissible ranges refused (record-today.ts), but IPv6
// addresses are not widened to a /64 here: which networks are access networks changes later.

import { createHash } from 'node:crypto'
import type { Range } from '../../src/ip/range.ts'

/** Details are absent if they have default values. */
export interface ListedRange {
  readonly range: Range
  readonly lists?: number | undefined
  readonly provider?: string | undefined
  readonly category?: string | undefined
}

export type DayContent = ReturnType<typeof dayContent>

/**
 * Sorted by family, first and last address; `mergeDetails` makes duplicates independent of order.
 * The hash is SHA-256 of the rows.
 */
export function dayContent(listed: Iterable<ListedRange>) {
  const sorted = [...listed].sort(order)
  const rows: ListedRange[] = []
  const hash = createHash('sha256')
  for (const one of sorted) {
    const before = rows.at(-1)
    if (before !== undefined && order(before, one) === 0)
      rows[rows.length - 1] = mergeDetails(before, one)
    else rows.push(one)
  }
  let text = ''
  for (const row of rows) {
    text += lineOf(row)
    if (text.length > 65_536) {
      hash.update(text)
      text = ''
    }
  }
  const detailCount = rows.reduce((sum, row) => sum + (hasDetails(row) ? 1 : 0), 0)
  return { rows, detailCount, hash: hash.update(text).digest('hex') }
}

const hasDetails = ({ lists, provider, category }: ListedRange): boolean =>
  lists !== undefined || provider !== undefined || category !== undefined

function order({ range: a }: ListedRange, { range: b }: ListedRange): number {
  if (a.family !== b.family) return a.family - b.family
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.last === b.last ? 0 : a.last < b.last ? -1 : 1
}

/** Keeps the larger number of lists, and the name that sorts first. */
function mergeDetails(a: ListedRange, b: ListedRange): ListedRange {
  if (!hasDetails(a) && !hasDetails(b)) return a
  return {
    range: a.range,
    lists: better(a.lists, b.lists, (one, other) => one > other),
    provider: better(a.provider, b.provider, (one, other) => one < other),
    category: better(a.category, b.category, (one, other) => one < other),
  }
}

const better = <T>(a: T | undefined, b: T | undefined, isBetter: (one: T, other: T) => boolean) =>
  a === undefined || (b !== undefined && isBetter(b, a)) ? b : a

function lineOf(row: ListedRange): string {
  const { family, first, last } = row.range
  const ends = family === 4 ? `4 ${Number(first)} ${Number(last)}` : `6 ${first} ${last}`
  if (!hasDetails(row)) return `${ends}\n`
  return `${ends} ${JSON.stringify([row.lists ?? 0, row.provider ?? '', row.category ?? ''])}\n`
}
