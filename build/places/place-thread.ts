// The thread in which a build reads places (place-reader.ts). It hands over what it read, and ends.

import { parentPort, workerData } from 'node:worker_threads'
import { readPlaceColumns } from './place-cache.ts'

const { files, cache } = workerData as {
  readonly files: readonly string[]
  readonly cache: string
}
const places = await readPlaceColumns(files, cache)
const { columns, layers } = places
const arrays = [
  ...columns.textColumns,
  ...columns.numberColumns,
  ...[layers[4], layers[6]].flatMap(({ starts, values }) => [starts, values]),
]
// Handed over, not copied. Out of the cache all are parts of one piece of memory; of a small file
// that is Node's pool, which cannot be handed over.
const buffers = new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))
parentPort?.postMessage(
  places,
  [...buffers].filter(({ byteLength }) => byteLength > Buffer.poolSize),
)
