// The thread in which a build reads places (place-reader.ts). When it is told the networks, it lays
// the places over them, hands over both, and ends.

import { parentPort, workerData } from 'node:worker_threads'
import type { Layers } from '../layer/layer.ts'
import { arraysOfColumns, copyColumns, pairPlaces, readPlaceColumns } from './kept-places.ts'

const { files, cache } = workerData as {
  readonly files: readonly string[]
  readonly cache: string
}
const places = await readPlaceColumns(files, cache)
const networks = await new Promise<Layers>((resolve, reject) => {
  parentPort?.once('message', resolve).once('messageerror', reject)
})
const paired = pairPlaces(copyColumns(places), networks)
const { pairs } = paired
const arrays = [
  ...arraysOfColumns(paired),
  ...Object.values(pairs.layers).flatMap(({ starts, values }) => [starts, values]),
  pairs.networks,
  pairs.places,
]
// Handed over, not copied: each has memory of its own.
parentPort?.postMessage(
  paired,
  arrays.map(({ buffer }) => buffer as ArrayBuffer),
)
