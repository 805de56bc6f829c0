// The thread in which a build reads places (place-reader.ts). It hands over what it read, and ends.

import { parentPort, workerData } from 'node:worker_threads'
import { readPlaceColumns } from './place-cache.ts'
import { arraysOfPlaces } from './place-columns.ts'

const { files, cache } = workerData as {
  readonly files: readonly string[]
  readonly cache: string
}
const places = await readPlaceColumns(files, cache)
// Handed over, not copied. Out of the cache nearly all are parts of one piece of memory; small
// ones may lie in Node's pool, which cannot be handed over.
const buffers = new Set(arraysOfPlaces(places).map(({ buffer }) => buffer as ArrayBuffer))
parentPort?.postMessage(
  places,
  [...buffers].filter(({ byteLength }) => byteLength > Buffer.poolSize),
)
