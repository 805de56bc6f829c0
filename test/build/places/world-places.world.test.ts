// The real files of the default data set, whole. One reading serves all tests here: it takes
// seconds. The slow twin is mmdb-lib's own lookup, address by address.

import { readFileSync } from 'node:fs'
import { Reader } from 'mmdb-lib'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCountries } from '../../../build/places/countries.ts'
import {
  type ReadPlaces,
  defaultPlaceFiles,
  readPlaces,
} from '../../../build/places/read-places.ts'
import { formatDay } from '../../../src/base/day.ts'
import { maxAddress } from '../../../src/ip/range.ts'
import type { Family } from '../../../src/ip/address.ts'
import type { Location } from '../../../src/api/check-answer.ts'
import type { Layer } from '../../../build/layer/layer.ts'
import { addressOf, lookup, startOf } from '../mmdb/mmdb-lookup.ts'

interface FlatRecord {
  readonly country_code: string
  readonly state1: string
  readonly city: string
  readonly postcode: string
  readonly latitude: number
  readonly longitude: number
}

/** The package is a devDependency: without it, these tests fail. */
const files = defaultPlaceFiles() ?? []
let places: ReadPlaces

beforeAll(async () => {
  const began = performance.now()
  places = await readPlaces(files)
  const seconds = (performance.now() - began) / 1000
  const rssMb = process.resourceUsage().maxRSS / 1024
  process.stderr.write(
    `places: ${places.layers[4].count} + ${places.layers[6].count} pieces, ` +
      `${places.locations.length} locations, ${seconds.toFixed(1)} s, peak ${rssMb.toFixed(0)} MB\n`,
  )
}, 120_000)

/** xorshift32: the same addresses in every run. */
function newRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.floor(((state >>> 0) / 2 ** 32) * below)
  }
}

/** Half anywhere in the family's space, half at the first or last address of a random piece. */
function addresses(layer: Layer, count: number, random: (below: number) => number): string[] {
  const found: string[] = []
  for (let i = 0; i < count / 2; i++) {
    const words = Array.from({ length: 4 }, () => BigInt(random(2 ** 32)))
    const any = words.reduce((value, word) => (value << 32n) | word, 0n)
    const inScope = layer.family === 4 ? any & maxAddress(4) : (any >> 3n) | (1n << 125n)
    found.push(addressOf(layer.family, inScope))
    const piece = 1 + random(layer.count - 1)
    const edge = startOf(layer, piece) - BigInt(random(2))
    found.push(addressOf(layer.family, edge))
  }
  return found
}

describe('the world', () => {
  it('is there as a whole', () => {
    expect(files.length).toBe(2)
    expect(places.layers[4].count).toBeGreaterThan(3_600_000)
    expect(places.layers[6].count).toBeGreaterThan(4_300_000)
    expect(places.locations.length).toBeGreaterThan(500_000)
    expect(places.unknownCountries.size).toBe(0)
    for (const { day } of places.files) expect(formatDay(day!)).toMatch(/^20\d\d-/)
  })

  it('keeps the invariants of its layers', () => {
    for (const { family, starts, values, count } of [places.layers[4], places.layers[6]]) {
      const words = family === 4 ? 1 : 4
      let bad = starts.subarray(0, words).some((word) => word !== 0) ? 1 : 0
      let valueMax = 0
      for (let i = 1; i < count; i++) {
        let word = 0
        while (word < words - 1 && starts[i * words + word] === starts[(i - 1) * words + word]) {
          word++
        }
        if (starts[i * words + word]! <= starts[(i - 1) * words + word]!) bad++
        if (values[i] === values[i - 1]) bad++
        valueMax = Math.max(valueMax, values[i]!)
      }
      expect(bad).toBe(0)
      expect(valueMax).toBeLessThanOrEqual(places.locations.length)
      expect(starts.length).toBe(count * words)
    }
  })

  it.each<Family>([4, 6])('answers 20,000 IPv%i addresses as mmdb-lib does', (family) => {
    const reader = new Reader(readFileSync(files[family === 4 ? 0 : 1]!))
    const layer = places.layers[family]
    let known = 0
    for (const address of addresses(layer, 20_000, newRandom(20_260_822 + family))) {
      // The layers say nothing of 6to4 and Teredo, where place data name the relay's place.
      const isTransition = /^(2002:|2001:0*:)/.test(address)
      const record = isTransition ? null : (reader.get(address) as FlatRecord | null)
      const id = lookup(layer, address)
      const location = id === 0 ? null : places.locations[id - 1]!
      if (record !== null) known++
      expect({ address, place: location && placeOf(location) }).toEqual({
        address,
        place: record && placeOf({ ...record, state: record.state1, zip: record.postcode }),
      })
    }
    expect(known).toBeGreaterThan(9000)
  })

  it('has known places', () => {
    const { locations, layers } = places
    expect(locations[lookup(layers[4], '8.8.8.8') - 1]).toMatchObject({
      country_code: 'US',
      state: 'California',
      city: 'Mountain View',
      latitude: 37.422,
      longitude: -122.085,
      timezone: 'America/Los_Angeles',
      accuracy: 'city',
    })
    expect(lookup(layers[4], '192.168.1.1')).toBe(0)
    expect(lookup(layers[6], 'fe80::1')).toBe(0)
  })

  it('fills every member that the contract wants filled', () => {
    const bad = places.locations.filter(
      (l) =>
        l.country === '' ||
        l.continent === '' ||
        !/^[A-Z]{2}$/.test(l.continent_code) ||
        !(l.timezone.includes('/') && /^[A-Z]/.test(l.timezone)) ||
        !(l.currency_code !== '' || l.country_code === 'AQ') ||
        Math.round(l.latitude * 1e4) / 1e4 !== l.latitude ||
        Math.round(l.longitude * 1e4) / 1e4 !== l.longitude,
    )
    expect(bad).toEqual([])
  })

  // A wrong sign or swapped columns put a point thousands of kilometres away. Two bounds: some
  // place of the country lies within 300 km, and the middle of its places within 400 km or, in
  // countries whose people live far from the middle, 1.6 times the radius that holds 95 % of its
  // places. Antarctica is excepted: its point is the pole, its ten places are stations on the
  // coast.
  it('has every reference point in or near its country', () => {
    const byCountry = new Map<string, Location[]>()
    for (const location of places.locations) {
      const here = byCountry.get(location.country_code)
      if (here === undefined) byCountry.set(location.country_code, [location])
      else here.push(location)
    }
    const far: string[] = []
    for (const country of readCountries().values()) {
      const here = byCountry.get(country.code)
      if (here === undefined || country.code === 'AQ') continue
      const middle = {
        latitude: median(here.map((l) => l.latitude)),
        longitude: median(here.map((l) => l.longitude)),
      }
      const nearest = Math.min(...here.slice(0, 20_000).map((l) => distanceKm(country, l)))
      const radii = here.map((l) => distanceKm(middle, l)).sort((a, b) => a - b)
      const bound = Math.max(400, 1.6 * radii[Math.floor(radii.length * 0.95)]!)
      if (nearest > 300 || distanceKm(country, middle) > bound) far.push(country.code)
    }
    expect(far).toEqual([])
  })
})

/** What a record and a location have in common; coordinates to the four decimals that count. */
function placeOf(
  place: Pick<Location, 'country_code' | 'state' | 'city' | 'zip' | 'latitude' | 'longitude'>,
): unknown {
  const { country_code, state, city, zip } = place
  const point = [place.latitude.toFixed(4), place.longitude.toFixed(4)]
  return { country_code, state, city, zip, point }
}

interface Point {
  readonly latitude: number
  readonly longitude: number
}

/** Great-circle distance by the haversine formula. */
function distanceKm(a: Point, b: Point): number {
  const radians = Math.PI / 180
  const h =
    Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2 +
    Math.cos(a.latitude * radians) *
      Math.cos(b.latitude * radians) *
      Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2
  return 2 * 6371 * Math.asin(Math.sqrt(h))
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!
}
