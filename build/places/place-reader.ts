// Reads places beside the rest of a build, and lays them over its networks. That is a third of a
// first build's work, and needs none of its evidence: so a thread does it, from the start of the
// build until its evidence is laid out.
//
// A thread that fails for any reason costs its time, nothing else: the build then reads places by
// itself, and finds out what is wrong with them.

import { startOneShotThread } from '../../src/base/system/one-shot-thread.ts'
import type { Layers } from '../layer/layer.ts'
import {
  type Paired,
  pairPlaces,
  type PlaceColumns,
  placesOfColumns,
  readPlacesCached,
} from './kept-places.ts'
import { type Places, readPlaces } from './read-places.ts'

export interface PlaceReader {
  /** To be called once, as soon as the networks are known. */
  readonly layOver: (networks: Layers) => PendingPlaces
}

export interface PendingPlaces {
  /** Waits for them. Errors: those of readPlaces. */
  readonly read: () => Promise<Paired<Places>>
}

/** Without a `cache` nothing is kept, and nothing read before it is asked for. */
export function startPlaceReader(files: readonly string[], cache: string | undefined): PlaceReader {
  if (cache === undefined) return readWhenAsked(async () => readPlaces(files))
  const alone = readWhenAsked(async () => readPlacesCached(files, cache))
  // A thread runs the compiled program alone.
  if (import.meta.url.endsWith('.ts')) return alone
  const thread = startOneShotThread<Layers, Paired<PlaceColumns>>(
    new URL('./place-thread.js', import.meta.url),
    { files, cache },
  )
  return {
    layOver(networks) {
      thread.ask(networks)
      return {
        async read() {
          const found = await thread.answer()
          return found === undefined ? alone.layOver(networks).read() : placesOfColumns(found)
        },
      }
    },
  }
}

function readWhenAsked(read: () => Promise<Places>): PlaceReader {
  return {
    layOver: (networks) => ({ read: async () => pairPlaces(await read(), networks) }),
  }
}
