// Runs of places: whatever places a build knows, verification finds each run to be what an answer
// says, and none where a byte of it is another.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { makePlaceRuns } from '../../../../build/places/place-runs.ts'
import { newStringCollector, runSections } from '../../../../build/write/text-sections.ts'
import type { Location } from '../../../../src/api/check-answer.ts'
import { accuracies } from '../../../../src/model/kind.ts'
import { runElementWords } from '../../../../src/schema/table-layout.ts'
import type { SectionViews } from '../../../../src/schema/table-sections.ts'
import { openLocations, runBytes } from '../../../../src/table/file/location-record.ts'
import { openStrings } from '../../../../src/table/file/string-section.ts'
import { verifyRuns } from '../../../../src/table/file/verify/verify-runs.ts'
import { inForm } from '../../../form.ts'

const name = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'Z', ' ', '1'), maxLength: 24 }),
  fc.constantFrom('', 'Zürich', '"Old" Town', 'back\\slash', '东京'),
)
const degrees = (max: number) =>
  fc.oneof(
    fc.integer({ min: -max * 10_000, max: max * 10_000 }).map((value) => value / 10_000),
    fc.constantFrom(0, max, -max, 0.0001, -0.0001, 9.5, -10),
  )
const places = fc.array(
  fc.record({
    country_code: fc.constantFrom('DE', 'JP'),
    continent_code: fc.constant('EU'),
    continent: fc.constant('Europe'),
    country: name,
    state: name,
    city: name,
    zip: name,
    latitude: degrees(90),
    longitude: degrees(180),
    timezone: fc.constantFrom('Europe/Berlin', 'Asia/Tokyo'),
    currency_code: fc.constantFrom('EUR', 'JPY'),
    accuracy: fc.constantFrom(...accuracies),
  }),
  { minLength: 1, maxLength: 30 },
)

function viewsOf(locations: readonly Location[]): SectionViews {
  const collector = newStringCollector()
  const known = { read: locations, runs: makePlaceRuns(locations), added: [] }
  const runs = runSections([], known, collector)
  const networks = new Uint32Array(0)
  return { networks, ...runs, ...collector.sections() } as unknown as SectionViews
}

const fail = (section: string, element: number, why: string): never => {
  throw new Error(`${section} ${element}: ${why}`)
}

it('say of every place what the build knew', () => {
  const property = fc.property(places, (locations) => {
    const views = viewsOf(locations)
    verifyRuns(views, fail)
    const read = openLocations(views, openStrings(views))
    // White space at the ends of a name is cleaned away.
    const known = locations.map((place) => ({
      ...place,
      country: place.country.trim().replaceAll(/ +/g, ' '),
      state: place.state.trim().replaceAll(/ +/g, ' '),
      city: place.city.trim().replaceAll(/ +/g, ' '),
      zip: place.zip.trim().replaceAll(/ +/g, ' '),
    }))
    expect(locations.map((_, index) => read(index + 1))).toEqual(known)
  })
  fc.assert(property, { numRuns: inForm({ short: 50, full: 300, long: 1000 }) })
})

it('are known as wrong by a byte that JSON would not have', () => {
  const property = fc.property(places, fc.nat(), (locations, seed) => {
    const views = viewsOf(locations)
    const id = seed % locations.length
    const run = views.location_runs[id]! * runElementWords
    const at = (run + runElementWords) * 4 + (seed % views.runs[run]!)
    const bytes = runBytes(views)
    // No text of a place has it, and no number.
    bytes[at] = 0x1f
    expect(() => verifyRuns(views, fail)).toThrow(/runs \d+: it differs from location/)
  })
  fc.assert(property, { numRuns: inForm({ short: 50, full: 300, long: 1000 }) })
})

it('have degrees that there are', () => {
  const [place] = fc.sample(places, 1)[0]!
  const verify = (degrees: Partial<Location>) => (): void =>
    verifyRuns(viewsOf([{ ...place!, latitude: 90, longitude: 180, ...degrees }]), fail)
  expect(verify({})).not.toThrow()
  expect(verify({ latitude: 90.0001 })).toThrow(/runs \d+: it differs from location/)
  expect(verify({ longitude: -180.0001 })).toThrow(/runs \d+: it differs from location/)
})
