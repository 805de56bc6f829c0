// What the tests of acceptance share: feeds of a day as files on disk, and one build's passage
// through acceptance, its observations recorded as a build does.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { type FeedAcceptance, acceptFeeds } from '../../../build/acceptance/accept-feeds.ts'
import { recordToday } from '../../../build/history/record-today.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import {
  type MissingFeed,
  type SnapshotFile,
  parseSnapshot,
} from '../../../build/evidence/read-snapshots.ts'
import type { Day } from '../../../src/base/day.ts'

export const tables = loadNetworkTables()

/** A list of one address or prefix a line. */
export function feedOf(own: Partial<Feed> = {}): Feed {
  return {
    id: 'test-list',
    title: 'A list for tests',
    kind: 'blocklist',
    provider: '',
    group: 'test',
    weight: 1,
    assurance: 'good',
    rolling: false,
    enabled: true,
    licence: 'CC0-1.0',
    homepage: 'https://example.com/',
    cadence: 'daily',
    asns: [],
    widest: { ipv4: 24, ipv6: 48 },
    files: [fileOf('list.txt')],
    ...own,
  }
}

export function fileOf(path: string, format: Feed['files'][number]['format'] = 'list') {
  const url = `https://example.com/${path}`
  return { path, role: 'use', url, format, bytes: { min: 1, max: 1e9 } } as const
}

/** Addresses 9.<net>.x.y, one a line; distinct for distinct numbers. */
export function addresses(count: number, net = 0): string[] {
  return Array.from({ length: count }, (_, n) => `9.${net}.${n >> 8}.${n & 255}`)
}

export interface Fixture {
  /** Where a build's snapshots lie; each passage overwrites them, as a fetch does. */
  readonly snapshots: string
  /** The history, and acceptance's memory in it. */
  readonly store: string
}

export interface Passage extends FeedAcceptance {
  /** What the build may use of a feed, all files together. */
  readonly textsOf: (feed: Feed) => readonly string[]
}

export interface PassageOptions {
  readonly promoted?: boolean
  readonly missing?: readonly MissingFeed[]
}

/** One build: `lists` has the text of each feed's files, in their order. */
export async function pass(
  fixture: Fixture,
  day: Day,
  lists: readonly (readonly [feed: Feed, ...texts: readonly (string | readonly string[])[]])[],
  more: PassageOptions = {},
): Promise<Passage> {
  const snapshots: SnapshotFile[] = lists.flatMap(([feed, ...texts]) =>
    texts.map((text, at) => {
      const file = feed.files[at]
      if (file === undefined) throw new Error(`${feed.id} has no file ${at}`)
      const path = join(fixture.snapshots, feed.id, file.path)
      mkdirSync(join(fixture.snapshots, feed.id), { recursive: true })
      writeFileSync(path, typeof text === 'string' ? text : `${text.join('\n')}\n`)
      return { feed, file, path, day }
    }),
  )
  return passFiles(fixture, snapshots, more)
}

export async function passFiles(
  { store }: Pick<Fixture, 'store'>,
  snapshots: readonly SnapshotFile[],
  { promoted = true, missing = [] }: PassageOptions = {},
): Promise<Passage> {
  const files = []
  for (const snapshot of snapshots) files.push(await parseSnapshot(snapshot))
  const accepted = await acceptFeeds({ files, snapshots, missing, store, tables })
  const without = new Set(accepted.quarantined.keys())
  const recorded = await recordToday(accepted.files, { store, without })
  if (recorded.problems.length > 0) throw new Error(recorded.problems.join('\n'))
  if (promoted) await accepted.commit()
  const textsOf = (feed: Feed): readonly string[] =>
    accepted.files
      .filter((file) => file.feed === feed)
      .flatMap(({ entries }) => entries.map((e) => e.text))
  return { ...accepted, textsOf }
}
