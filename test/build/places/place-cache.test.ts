import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { readPlacesCached } from '../../../build/places/kept-places.ts'
import { type Places, type ReadPlaces, readPlaces } from '../../../build/places/read-places.ts'
import { type MmdbSpec, writeMmdb } from '../mmdb/mmdb-writer.ts'
import { cityRecord } from './city-record.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-place-cache-'))
const newCache = (): string => join(mkdtempSync(join(folder, 'c-')), 'cache')

function write(name: string, ...cities: readonly string[]): string {
  const path = join(folder, name)
  const spec: MmdbSpec = {
    ipVersion: 6,
    recordBits: 28,
    entries: cities.map((city, index) => [`2a0${index}::/16`, cityRecord(city)] as const),
    metadata: { build_epoch: 1_780_667_000n },
  }
  writeFileSync(path, writeMmdb(spec))
  return path
}

const oslo = write('oslo.mmdb', 'Oslo', '', 'Bodø')
/** With all locations, which are made when they are asked for. */
const spelled = ({ locations, ...rest }: Places): ReadPlaces => ({
  ...rest,
  locations: Array.from({ length: locations.length }, (_, index) => locations.at(index)!),
})

const onlyFile = (cache: string): string => {
  const names = readdirSync(cache)
  expect(names).toHaveLength(1)
  return join(cache, names[0]!)
}

describe('places in the cache', () => {
  it('are those of the files, wherever these lie', async () => {
    const cache = newCache()
    const plain = await readPlaces([oslo])
    expect(spelled(await readPlacesCached([oslo], cache))).toEqual(plain)
    expect(spelled(await readPlacesCached([oslo], cache))).toEqual(plain)
    const copy = write('copy.mmdb', 'Oslo', '', 'Bodø')
    const [file] = plain.files
    const moved = { ...plain, files: [{ ...file, path: copy }] }
    expect(spelled(await readPlacesCached([copy], cache))).toEqual(moved)
    onlyFile(cache)
  })

  it('are used where they are there', async () => {
    const cache = newCache()
    await readPlacesCached([oslo], cache)
    const path = onlyFile(cache)
    const kept = deserialize(readFileSync(path).subarray(32)) as { columns: { texts: string[] } }
    kept.columns.texts[kept.columns.texts.indexOf('Oslo')] = 'Tromsø'
    const content = serialize(kept)
    const hash = createHash('sha256').update(`${content.length}\n`).update(content).digest()
    writeFileSync(path, Buffer.concat([hash, content]))
    const { locations } = spelled(await readPlacesCached([oslo], cache))
    expect(locations.map(({ city }) => city)).toEqual(['Tromsø', '', 'Bodø'])
  })

  it.each(['cut off', 'a flipped bit', 'empty'])(
    'are read anew where the file is %s',
    async (how) => {
      const cache = newCache()
      const plain = spelled(await readPlacesCached([oslo], cache))
      const path = onlyFile(cache)
      const good = readFileSync(path)
      const bad = Buffer.from(
        good.subarray(0, how === 'empty' ? 0 : good.length - (how === 'cut off' ? 9 : 0)),
      )
      if (how === 'a flipped bit') bad[good.length >> 1]! ^= 4
      writeFileSync(path, bad)
      expect(spelled(await readPlacesCached([oslo], cache))).toEqual(plain)
      expect(readFileSync(path).equals(good)).toBe(true)
    },
  )

  it('are two editions at most', async () => {
    const cache = newCache()
    for (const city of ['A', 'B', 'C', 'D']) await readPlacesCached([write('x.mmdb', city)], cache)
    expect(readdirSync(cache)).toHaveLength(2)
    const { locations } = spelled(await readPlacesCached([write('x.mmdb', 'D')], cache))
    expect(locations.map(({ city }) => city)).toEqual(['D'])
  })

  it('are not kept where nothing can be written, and that hinders nothing', async () => {
    const file = join(folder, 'no-folder')
    writeFileSync(file, '')
    chmodSync(file, 0o400)
    expect(spelled(await readPlacesCached([oslo], file))).toEqual(await readPlaces([oslo]))
    expect(statSync(file).size).toBe(0)
  })
})
