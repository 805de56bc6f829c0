// Reads places beside the rest of a build. They are a third of a first build's work, and nothing of
// it follows from a feed: so a thread of its own reads them, from the start of the build until its
// evidence is laid out.
//
// A thread that fails for any reason costs its time, nothing else: the build then reads places by
// itself, and finds out what is wrong with them.

import { Worker } from 'node:worker_threads'
import { readPlacesCached } from './place-cache.ts'
import { type PlaceColumns, placesOfColumns } from './place-columns.ts'
import { type Places, readPlaces } from './read-places.ts'

export interface PlaceReader {
  /** Waits for them. Errors: those of readPlaces. */
  readonly read: () => Promise<Places>
}

/** Without a `cache` nothing is kept, and nothing read before it is asked for. */
export function startPlaceReader(files: readonly string[], cache: string | undefined): PlaceReader {
  if (cache === undefined) return { read: () => readPlaces(files) }
  // A thread runs the compiled program alone.
  if (import.meta.url.endsWith('.ts')) return { read: () => readPlacesCached(files, cache) }
  const thread = new Worker(new URL('./place-thread.js', import.meta.url), {
    workerData: { files, cache },
  })
  const columns = new Promise<PlaceColumns | undefined>((resolve) => {
    thread.once('message', resolve)
    thread.once('error', () => resolve(undefined))
    thread.once('exit', () => resolve(undefined))
  })
  // A build that fails before it asks shall not wait for the end of the thread.
  thread.unref()
  return {
    async read() {
      thread.ref()
      const found = await columns
      return found === undefined ? readPlacesCached(files, cache) : placesOfColumns(found)
    },
  }
}
