// Reads snapshots into entries without interpreting them. An unreadable file costs that file, a bad
// entry costs that entry.

import { basename } from 'node:path'
import { type Day, isFuture } from '../../src/base/day.ts'
import { messageOf } from '../../src/base/coded-error.ts'
import { type Feed, isFeed } from '../catalogue/feed.ts'
import type { ObtainedFile } from '../fetch/obtain-snapshots.ts'
import { type Entry, withRange } from '../parse/entry.ts'
import { parseFile } from '../parse/parse-file.ts'
import { type ParseCounts, newParseCounts, countingSink } from '../parse/parse-counts.ts'

export interface SnapshotFile {
  readonly feed: Feed
  readonly file: Feed['files'][number]
  readonly path: string
  /** The day of the fetch, or of the mirror's copy. */
  readonly day: Day
}

/** A feed without a file, or with a damaged one. */
export interface MissingFeed {
  readonly feed: Feed
  readonly problem: string
}

export interface ParsedSnapshot {
  readonly feed: Feed
  readonly tally: ParseCounts
  readonly entries: readonly Entry[]
  /** The day that the file states, unless it is in the future; else the snapshot's. */
  readonly day: Day
  readonly problem: string | undefined
}

/** Without the entries, which take most of a build's memory. */
export type TakenSnapshot = Omit<ParsedSnapshot, 'entries'>

export const withoutEntries = ({ entries: _taken, ...rest }: ParsedSnapshot): TakenSnapshot => rest

/** Skips missing files and data sets. */
export function snapshotsOf(obtained: readonly ObtainedFile[]): readonly SnapshotFile[] {
  return obtained.flatMap(({ feed, file, path, day }) =>
    path === undefined || day === undefined || !isFeed(feed) ? [] : [{ feed, file, path, day }],
  )
}

/** Each feed once; data sets have their own acceptance. */
export function missingFeeds(obtained: readonly ObtainedFile[]): readonly MissingFeed[] {
  const there = new Set(obtained.filter(({ path }) => path !== undefined).map(({ feed }) => feed))
  const problems = new Map<Feed, string>()
  for (const { feed, state, damaged, problem = 'it has no snapshot' } of obtained) {
    if (state !== 'missing' || !isFeed(feed)) continue
    if (damaged === true || !there.has(feed)) problems.set(feed, problem)
  }
  return [...problems].map(([feed, problem]) => ({ feed, problem }))
}

export async function parseSnapshot(snapshot: SnapshotFile): Promise<ParsedSnapshot> {
  const { feed, file, path, day } = snapshot
  const tally = newParseCounts(`${feed.id}/${basename(file.path)}`)
  const entries: Entry[] = []
  try {
    const sink = countingSink(tally, (entry) => entries.push(withRange(entry)))
    const { format, options, bytes } = file
    await parseFile({ path, format, options, bytesMax: bytes.max }, sink)
  } catch (error) {
    // Earlier entries are discarded: half a feed looks like one that shrank.
    return { feed, tally, entries: [], day, problem: messageOf(error) }
  }
  const { stated } = tally
  const isPossible = stated !== undefined && !isFuture(stated, day)
  return { feed, tally, entries, day: isPossible ? stated : day, problem: undefined }
}

export const newestDay = (of: readonly { readonly day: Day }[]): Day =>
  Math.max(...of.map(({ day }) => day)) as Day

/** The lower median of the feeds' newest days. Hand-kept tables do not count. */
export function medianDay(files: readonly ParsedSnapshot[]): Day | undefined {
  const newest = new Map<string, Day>()
  for (const { feed, day, problem } of files) {
    if (problem !== undefined || feed.files.length === 0) continue
    const known = newest.get(feed.id)
    if (known === undefined || day > known) newest.set(feed.id, day)
  }
  const days = [...newest.values()].sort((a, b) => a - b)
  return days[Math.floor((days.length - 1) / 2)]
}
