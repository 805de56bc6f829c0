// The thread that reads places, as it was compiled: it hands over what a build would read by itself.

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterAll, expect, it } from 'vitest'
import type { Layers } from '../../../build/layer/layer.ts'
import { pairPlaces } from '../../../build/places/kept-places.ts'
import type * as PlaceReader from '../../../build/places/place-reader.ts'
import { readPlaces } from '../../../build/places/read-places.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { layerOf } from '../layer/random-layers.ts'
import { writeMmdb } from '../mmdb/mmdb-writer.ts'
import { cityRecord } from './city-record.ts'

const compiled = join(packageRoot, 'dist/build/places/place-reader.js')
const { startPlaceReader } = (await import(compiled)) as typeof PlaceReader

const folder = mkdtempSync(join(tmpdir(), 'iprisk-place-reader-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writePlaces(path: string): void {
  const entries = [
    ['2a00::/16', cityRecord('Oslo')],
    ['2a02::/16', cityRecord('')],
  ] as const
  const metadata = { build_epoch: 1_780_667_000n }
  writeFileSync(path, writeMmdb({ ipVersion: 6, recordBits: 28, entries, metadata }))
}

/** A network that begins in the midst of a place. */
const networks: Layers = {
  4: layerOf(4, [
    [0n, 0],
    [9n, 1],
  ]),
  6: layerOf(6, [
    [0n, 0],
    [0x2a00_0001n << 96n, 2],
  ]),
}

it.each(['read anew', 'from the cache'])('hands over places that were %s', async (how) => {
  const cache = join(folder, `cache of ${how}`)
  const path = join(folder, 'places.mmdb')
  writePlaces(path)
  const alone = pairPlaces(await readPlaces([path]), networks)
  if (how === 'from the cache') await startPlaceReader([path], cache).layOver(networks).read()
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  const pending = startPlaceReader([path], cache).layOver(networks)
  await once(await started, 'exit')
  // From here on nobody else can know them.
  rmSync(path)
  rmSync(cache, { recursive: true })
  const { locations, ...rest } = await pending.read()
  expect(rest).toEqual({ ...alone, locations: undefined })
  expect(Array.from({ length: locations.length }, (_, at) => locations.at(at))).toEqual(
    alone.locations,
  )
})

it('leaves what is wrong with the files for the build to find', async () => {
  const reader = startPlaceReader([join(folder, 'none.mmdb')], join(folder, 'empty cache'))
  await expect(reader.layOver(networks).read()).rejects.toThrow(/none\.mmdb: there is no such file/)
})
