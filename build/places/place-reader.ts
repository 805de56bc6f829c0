// Reads places in a thread during the build, and lays them over its networks: a third of a first
// build's work that needs no evidence. If the thread fails, the build reads places itself and
// reports the cause.

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
  /** Call once, as soon as the networks are known. */
  readonly layOver: (networks: Layers) => PendingPlaces
}

export interface PendingPlaces {
  /** Throws the errors of readPlaces. */
  readonly read: () => Promise<Paired<Places>>
}

/** Without a `cache`, places are read only when needed. */
export function startPlaceReader(files: readonly string[], cache: string | undefined): PlaceReader {
  if (cache === undefined) return readWhenAsked(async () => readPlaces(files))
  const alone = readWhenAsked(async () => readPlacesCached(files, cache))
  // A thread can run only the compiled program.
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
  return { layOver: (networks) => ({ read: async () => pairPlaces(await read(), networks) }) }
}
