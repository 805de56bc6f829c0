// What reading files gave is used again while they are the same, and is never the reason that a
// build reads something else than they say.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Reading, keptReading } from '../../../build/layer/reading-cache.ts'
import { noAsFacts } from '../../../build/networks/as-facts.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { readNetworks } from '../../../build/networks/read-networks.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-kept-'))
const layer = fileURLToPath(new URL('../../../build/layer', import.meta.url))
const newCache = (): string => join(mkdtempSync(join(folder, 'c-')), 'cache')

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const readingOf = (...files: readonly string[]): Reading => ({
  kind: 'networks',
  files,
  code: ['.'],
  tables: [],
})

/** Counts how often it reads. */
function newReader() {
  const reader = { times: 0, read: () => Promise.resolve(`reading ${(reader.times += 1)}`) }
  return reader
}

describe('a reading', () => {
  it('is made once while its files are the same, wherever they lie', async () => {
    const [cache, reader] = [newCache(), newReader()]
    const one = readingOf(file('one.csv', 'content'))
    const copy = readingOf(file('copy.csv', 'content'))
    for (const reading of [one, one, copy]) {
      expect(await keptReading(reading, cache, reader.read)).toBe('reading 1')
    }
  })

  it('is made again of other files, and by other code', async () => {
    const [cache, reader] = [newCache(), newReader()]
    const one = readingOf(file('one.csv', 'content'))
    const cut = readingOf(file('a.csv', 'con'), file('b.csv', 'tent'))
    const grown = { ...one, code: ['.', '../parse'] }
    const tables = { ...one, tables: ['data/tables/countries.csv'] }
    const readings = [one, cut, grown, tables]
    const made: string[] = []
    for (const reading of readings) made.push(await keptReading(reading, cache, reader.read))
    expect(made).toEqual(readings.map((_, index) => `reading ${index + 1}`))
  })

  it('is made again of other code, and not for declarations that are written beside it', async () => {
    const [cache, reader] = [newCache(), newReader()]
    const code = mkdtempSync(join(folder, 'code-'))
    const reading = { ...readingOf(file('one.csv', 'content')), code: [relative(layer, code)] }
    const read = () => keptReading(reading, cache, reader.read)
    writeFileSync(join(code, 'one.js'), '1')
    expect(await read()).toBe('reading 1')
    writeFileSync(join(code, 'one.d.ts'), 'export {}')
    expect(await read()).toBe('reading 1')
    writeFileSync(join(code, 'one.js'), '2')
    expect(await read()).toBe('reading 2')
  })

  it('is made again where the last byte of a large file is another', async () => {
    const [cache, reader] = [newCache(), newReader()]
    const content = 'x'.repeat(2 ** 21)
    const readings = ['a', 'b', 'a'].map((end) => readingOf(file(`${end}.csv`, content + end)))
    const made: string[] = []
    for (const reading of readings) made.push(await keptReading(reading, cache, reader.read))
    expect(made).toEqual(['reading 1', 'reading 2', 'reading 1'])
  })

  it('comes back as it was, however large', async () => {
    const cache = newCache()
    const one = readingOf(file('large.csv', 'content'))
    const made = Uint32Array.from({ length: 3 * 2 ** 20 }, (_, index) => index * 7)
    const readings: Uint32Array[] = []
    for (const next of [made, new Uint32Array(0)]) {
      readings.push(await keptReading(one, cache, () => Promise.resolve(next)))
    }
    expect(readings[1]).toBeInstanceOf(Uint32Array)
    // Not by `toEqual`, which takes a quarter of a minute.
    const bytesOf = (of: Uint32Array) => Buffer.from(of.buffer, of.byteOffset, of.byteLength)
    expect(bytesOf(readings[1]!).equals(bytesOf(made))).toBe(true)
  })

  it('is the reader’s, or its error, where a file cannot be read', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [join(folder, 'none.csv'), folder, pipe]) {
      const fails = (): Promise<never> => Promise.reject(new Error('says the reader'))
      await expect(keptReading(readingOf(path), newCache(), fails)).rejects.toThrow(/says the/)
    }
  })

  it('is kept for the last two files of each kind', async () => {
    const [cache, reader] = [newCache(), newReader()]
    const places = { ...readingOf(file('p.csv', 'places')), kind: 'places' } as const
    await keptReading(places, cache, reader.read)
    for (const name of ['A', 'B', 'C']) {
      await keptReading(readingOf(file('n.csv', name)), cache, reader.read)
    }
    const names = readdirSync(cache).toSorted()
    expect(names.map((name) => name.split('-')[0])).toEqual(['networks', 'networks', 'places'])
    expect(await keptReading(places, cache, reader.read)).toBe('reading 1')
  })
})

describe('networks out of the cache', () => {
  it('are those of the files, wherever these lie, with the rows that could not be read', async () => {
    const rows = ['9.0.0.0,9.0.0.255,64502,B', 'no address,1,2,3', '2a00::,2a00::ff,64501,Ä "A"']
    const files = [file('asn.csv', rows.join('\n'))]
    const cache = newCache()
    const from = { files, facts: noAsFacts, tables: loadNetworkTables() }
    const plain = await readNetworks(from)
    expect(await readNetworks({ ...from, cache })).toEqual(plain)
    expect(await readNetworks({ ...from, cache })).toEqual(plain)
    expect(plain.stats.problems.samples).toEqual([`${files[0]}:2: no address`])
    const copies = [file('copy.csv', rows.join('\n'))]
    const copied = await readNetworks({ ...from, files: copies, cache })
    expect(copied).toEqual(await readNetworks({ ...from, files: copies }))
    expect(copied.stats.problems.samples).toEqual([`${copies[0]}:2: no address`])
    expect(readdirSync(cache)).toHaveLength(1)
  })
})
