// Where the shared real feeds are. They lie beside the project, never inside it; a test that needs
// them skips with a reason where they are missing, and fails in CI, where they must be there.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'

/** Folder of the shared feeds: `<feed-id>/<file>`, `feeds.json`, `history/`. */
export const feedsFolder =
  process.env['IPRISK_TEST_FEEDS'] ?? fileURLToPath(new URL('../../shared/feeds', import.meta.url))

/**
 * Feeds whose files the shared folder has. The others of the catalogue are those that nobody has
 * fetched yet (`tried: never`): what they hold is tested on samples in their format.
 */
export function withSharedData<One extends { readonly id: string }>(feeds: readonly One[]): One[] {
  return feeds.filter(({ id }) => existsSync(`${feedsFolder}/${id}`))
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
