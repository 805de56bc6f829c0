// Where the shared real feeds are. They lie beside the project, never inside it; a test that needs
// them skips with a reason where they are missing, and fails in CI, where they must be there.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'

/** Folder of the shared feeds: `<feed-id>/<file>`, `feeds.json`, `history/`. */
export const feedsFolder =
  process.env['IPRISK_TEST_FEEDS'] ?? fileURLToPath(new URL('../../shared/feeds', import.meta.url))

interface FeedWithFiles {
  readonly id: string
  readonly files: readonly { readonly path: string }[]
}

/**
 * The catalogue's feeds that the shared folder has, each with the files that are there. No file could
 * be had of the others (`tried: never`): samples in their format test their parsers.
 */
export function withSharedData<One extends FeedWithFiles>(feeds: readonly One[]): One[] {
  return feeds
    .filter(({ id }) => existsSync(join(feedsFolder, id)))
    .map((feed) => ({
      ...feed,
      files: feed.files.filter(({ path }) => !absentFiles.has(`${feed.id}/${path}`)),
    }))
}

/** Files of the catalogue that the shared folder lacks: a copy in another form is there. */
export const absentFiles: ReadonlySet<string> = new Set(['bot-bing/bingbot.json'])

/** One feed of the shared feeds.json; `path` is `<feed-id>/<file>`. */
export interface SharedFeed {
  readonly id: string
  readonly kind: string
  readonly license: string
  readonly snapshot_date: string
  readonly files: readonly { readonly path: string; readonly rows: number }[]
}

/** The feeds of the shared feeds.json that the catalogue has, too: people's lines are no feed. */
export function sharedFeeds(): readonly SharedFeed[] {
  const text = readFileSync(join(feedsFolder, 'feeds.json'), 'utf8')
  const all = JSON.parse(text) as readonly SharedFeed[]
  return all.filter(({ id }) => id !== 'clean-verizon')
}

const present = existsSync(`${feedsFolder}/feeds.json`)

/** `describe` for tests that read the shared feeds. */
export function describeFeeds(name: string, body: () => void): void {
  if (present) {
    describe(name, body)
  } else if (process.env['CI'] !== undefined) {
    describe(name, () => {
      it('has the shared feeds', () => {
        throw new Error(`${feedsFolder}/feeds.json is missing; CI must have it`)
      })
    })
  } else {
    describe.skip(`${name} (skipped: no shared feeds at ${feedsFolder})`, body)
  }
}
