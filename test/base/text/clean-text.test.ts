// Texts of feeds and data sets as the table has them: one line, nothing that steers or hides,
// short, wherever they come from; and what is already so stays.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanOrganization } from '../../../build/networks/organization-name.ts'
import { cleanText } from '../../../src/base/text/clean-text.ts'
import { readCountries } from '../../../build/places/countries.ts'
import { makePlaceRuns } from '../../../build/places/place-runs.ts'
import { newPlaceResolver } from '../../../build/places/place.ts'
import { newStringCollector } from '../../../build/write/text-sections.ts'
import { cleanSource } from '../../../build/evidence/source-list.ts'
import { assembleTable } from '../../../build/assemble-table.ts'
import { tableTextBytesMax, tableTextCharsMax } from '../../../src/base/limits.ts'
import { hostile, steering } from '../../cli/terminal/steering.ts'
import { listed, smallContent, smallParts } from '../../table/small-table.ts'

const place = newPlaceResolver(readCountries())
const written = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.array(fc.constantFrom(...Array.from(hostile)), { maxLength: 400 }).map((of) => of.join('')),
)

function faultsOf(text: string): readonly string[] {
  const faults = [
    new RegExp(steering, 'u').test(text) && 'steers',
    /^\s|\s$|\s\s/u.test(text) && 'has spaces to spare',
    text.length > tableTextCharsMax && 'is long',
    cleanText(text) !== text && 'changes again',
  ]
  return faults.filter((fault) => fault !== false)
}

describe('a text of the table', () => {
  it('is clean and short, whatever was written', () => {
    fc.assert(
      fc.property(written, (text) => {
        expect(faultsOf(cleanText(text))).toEqual([])
        expect(faultsOf(cleanOrganization(text))).toEqual([])
      }),
    )
  })

  it.each([
    ['Österreich  Süd', 'Österreich Süd'],
    ['LTDA \u00AD ME', 'LTDA ME'],
    ['Tel\u202Eeviv\u200F', 'Televiv'],
    ['a\u001B]0;title\u0007b', 'a ]0;title b'],
    ['😀'.repeat(100), '😀'.repeat(80)],
    [`x${'😀'.repeat(100)}`, `x${'😀'.repeat(79)}`],
    ['\u200B', ''],
  ])('%j is %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('65 KB long is as long as the longest organization', () => {
    const long = 'a'.repeat(65_536)
    const raw = { country: 'DE', state: long, city: long, zip: long, timezone: `A/${long}` }
    const found = place({ ...raw, latitude: 52.5, longitude: 13.4 })
    const cut = 'a'.repeat(tableTextCharsMax)
    expect(found).toMatchObject({ state: cut, city: cut, zip: cut, timezone: 'Europe/Berlin' })
  })

  it('of a place whose city is nothing but invisible has no city', () => {
    const raw = { country: 'DE', state: '\u202E', city: '\u200B\u0007', zip: '', timezone: '' }
    const found = place({ ...raw, latitude: 52.5, longitude: 13.4 })
    expect(found).toMatchObject({ city: '', state: '', accuracy: 'country' })
  })
})

describe('a table', () => {
  const long = `${hostile}${'ä'.repeat(70_000)}`

  it('holds only such texts, and no run that is longer', () => {
    const parts = smallParts(listed.map(([text, kind]) => [text, kind, `${kind}${long}`]))
    const networks = parts.networks.map((one) => ({ ...one, organization: long }))
    const locations = parts.locations.map((one) => ({ ...one, state: long, city: long, zip: long }))
    const sources = parts.sources.map((one) => ({ ...one, provider: long, licence: long }))
    const placeRuns = makePlaceRuns(locations)
    const { content } = assembleTable({ ...parts, networks, locations, placeRuns, sources })
    const { string_offsets: offsets, string_bytes: bytes, runs } = content.views
    for (let id = 1; id < offsets.length; id++) {
      const text = Buffer.from(bytes.subarray(offsets[id - 1], offsets[id])).toString()
      expect(faultsOf(text)).toEqual([])
    }
    for (const { provider, licence } of content.sources) {
      expect([...faultsOf(provider), ...faultsOf(licence)]).toEqual([])
    }
    expect(runs.byteLength).toBeLessThan(20 * tableTextBytesMax)
  })

  it('whose texts are so already has them as they are', () => {
    const strings = newStringCollector()
    const texts = ['Éxample Mobile', 'Example "Hosting" Ltd', 'می\u200Cخواهم']
    for (const text of texts) strings.id(text)
    expect(Buffer.from(strings.sections().string_bytes).toString()).toBe(texts.join(''))
    for (const one of smallContent().sources) expect(cleanSource(one)).toEqual(one)
  })
})
