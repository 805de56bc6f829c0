// The thread that reads places (place-reader.ts), lays them over the networks that it is sent, and
// transfers the result.

import { parentPort, workerData } from 'node:worker_threads'
import type { Layers } from '../layer/layer.ts'
import { arraysOfColumns, copyColumns, pairPlaces, readPlaceColumns } from './kept-places.ts'

const { files, cache } = workerData as { readonly files: readonly string[]; readonly cache: string }
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
// Transferred, not copied: each has its own memory.
parentPort?.postMessage(
  paired,
  arrays.map(({ buffer }) => buffer as ArrayBuffer),
)
