import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPlaces, type Places } from '../../../build/places/read-places.ts'
import { expectSound, lookup } from '../mmdb/mmdb-lookup.ts'
import { writeMmdb, type MmdbSpec } from '../mmdb/mmdb-writer.ts'
import { cityRecord } from './city-record.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-places-'))

function write(name: string, spec: MmdbSpec): string {
  const path = join(folder, name)
  writeFileSync(path, writeMmdb(spec))
  return path
}

/** Without what this file does not ask for. */
const flat = (country_code: string, city: string) => ({
  ...cityRecord(city),
  country_code,
  postcode: '',
  state1: '',
})

const v4 = write('v4.mmdb', {
  ipVersion: 4,
  recordBits: 28,
  entries: [
    ['1.0.0.0/8', flat('NO', 'Oslo')],
    ['2.0.0.0/8', flat('ZZ', 'Nowhere')],
    ['3.0.0.0/8', flat('SE', 'Lund')],
    ['4.0.0.0/8', flat('NO', 'Oslo')],
  ],
  metadata: { build_epoch: 1_780_667_000n },
})
const v6 = write('v6.mmdb', {
  ipVersion: 6,
  recordBits: 28,
  entries: [
    ['2001:db8::/32', flat('NO', 'Oslo')],
    ['2a00::/12', flat('DK', 'Aarhus')],
  ],
  metadata: { build_epoch: 1_780_500_000n },
})
const both = write('both.mmdb', {
  ipVersion: 6,
  recordBits: 32,
  entries: [
    ['1.0.0.0/8', { country: { iso_code: 'NO' }, city: { names: { en: 'Oslo' } } }],
    ['2a00::/12', { country: { iso_code: 'DK' } }],
  ],
  aliases: ['2002::/16', '::ffff:0:0/96'],
})
const sizes = write('sizes.mmdb', {
  ipVersion: 6,
  recordBits: 28,
  entries: [
    ['1.0.0.0/24', flat('NO', 'Bergen')],
    ['3.0.0.0/8', flat('SE', 'Lund')],
    ['2001:db8::/32', flat('NO', 'Oslo')],
    ['2a00::/32', flat('DK', 'Aarhus')],
  ],
})
const networks = write('networks.mmdb', {
  ipVersion: 4,
  recordBits: 24,
  entries: [['1.0.0.0/8', { autonomous_system_number: 64500 }]],
})

function cityAt(places: Places, family: 4 | 6, address: string): string | undefined {
  const id = lookup(places.layers[family], address)
  return id === 0 ? undefined : places.locations.at(id - 1)!.city
}

describe('readPlaces', () => {
  it('joins a file for each family under one dictionary', async () => {
    const places = await readPlaces([v4, v6])
    expect(places.locations.map(({ city }) => city)).toEqual(['Aarhus', 'Oslo', 'Lund'])
    expect(cityAt(places, 4, '1.2.3.4')).toBe('Oslo')
    expect(cityAt(places, 4, '2.2.3.4')).toBeUndefined()
    expect(cityAt(places, 4, '4.2.3.4')).toBe('Oslo')
    expect(cityAt(places, 6, '2001:db8::1')).toBe('Oslo')
    expect(cityAt(places, 6, '2a0f:ffff::1')).toBe('Aarhus')
    expect(lookup(places.layers[6], '2001:db8::1')).toBe(2)
    expectSound(places.layers[4])
    expectSound(places.layers[6])
    expect(places.unknownCountries).toEqual(new Map([['ZZ', 1]]))
    expect(places.files.map(({ recordCount }) => recordCount)).toEqual([4, 2])
    expect(places.layers[4].count).toBe(6)
  })

  it('numbers places of many addresses first', async () => {
    const places = await readPlaces([sizes])
    expect(places.locations.map(({ city }) => city)).toEqual(['Lund', 'Oslo', 'Aarhus', 'Bergen'])
    expect(cityAt(places, 4, '1.0.0.1')).toBe('Bergen')
    expect(cityAt(places, 4, '3.2.3.4')).toBe('Lund')
    expect(cityAt(places, 6, '2a00::1')).toBe('Aarhus')
    expect(cityAt(places, 6, '2001:db8::1')).toBe('Oslo')
    expect(cityAt(places, 4, '2.2.3.4')).toBeUndefined()
    expect(lookup(places.layers[4], '2.2.3.4')).toBe(0)
  })

  it('takes both families from one file', async () => {
    const places = await readPlaces([both])
    expect(cityAt(places, 4, '1.2.3.4')).toBe('Oslo')
    expect(cityAt(places, 6, '2a00::1')).toBe('')
    expect(lookup(places.layers[6], '2002:102:304::')).toBe(0)
  })

  it('gives empty layers where there is nothing', async () => {
    const places = await readPlaces([])
    expect(places.locations).toEqual([])
    for (const layer of [places.layers[4], places.layers[6]]) {
      expect([...layer.values]).toEqual([0])
      expectSound(layer)
    }
  })

  it('gives the same twice', async () => {
    expect(await readPlaces([v4, v6])).toEqual(await readPlaces([v4, v6]))
  })

  it('refuses two files of one family', async () => {
    await expect(readPlaces([v4, both])).rejects.toThrowError(
      /v4\.mmdb and .*both\.mmdb both hold places of IPv4/,
    )
  })

  it('says which file is of another layout, where, and what its members are', async () => {
    await expect(readPlaces([v6, networks])).rejects.toThrowError(
      /networks\.mmdb: byte \d+: .*members: autonomous_system_number\. Known layouts: /,
    )
  })
})
