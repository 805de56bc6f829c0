// Files of feeds, each feed with its own.

import type { Feed } from './feed.ts'

/** Feeds in order of their first files, and the files of each in their order. */
export function groupByFeed<T extends { readonly feed: Feed }>(
  files: readonly T[],
): ReadonlyMap<Feed, readonly T[]> {
  const groups = new Map<Feed, T[]>()
  for (const file of files) {
    const own = groups.get(file.feed)
    if (own === undefined) groups.set(file.feed, [file])
    else own.push(file)
  }
  return groups
}
