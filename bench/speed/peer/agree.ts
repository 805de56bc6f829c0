// Whether the table finds the same country as the MMDB files that its places come from, address by
// address. The rules of address (6to4, Teredo and the like) look elsewhere on purpose, so only what
// is judged as itself is compared; and a table made of other data agrees with nothing, which the
// report then says instead of failing.

import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { EMBEDDED, embeddedKind } from '../../../src/ip/embedded-ipv4.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'
import type { Addresses, Scenario } from '../lookups/scenario.ts'
import { type maxmindReaders, countryNumber } from './mmdb.ts'

export interface Agreement {
  readonly scenario: string
  readonly asked: number
  readonly same: number
  readonly faults: readonly string[]
}

const words = newAddressWords()
const sampleSize = 20_000
/** The source that the table names where its places come from these files. */
const sourceOfPlaces = /db-?ip/i

export function compareCountries(
  table: OpenTable,
  readers: Awaited<ReturnType<typeof maxmindReaders>>,
  scenario: Scenario,
  addresses: Addresses,
): Agreement {
  const get = readers[scenario.family]
  const texts = addresses.texts.slice(0, sampleSize)
  const different: string[] = []
  let asked = 0
  for (const text of texts) {
    if (parseAddress(text, words) === 6 && embeddedKind(words) !== EMBEDDED.none) continue
    const answer = table.check(text)
    if (answer === undefined) continue
    asked += 1
    const own = numberOf(answer)
    const theirs = countryNumber(get(text))
    if (own !== theirs) different.push(`${text}: ${nameOf(own)} here, ${nameOf(theirs)} there`)
  }
  const alike = table.sources.some(({ id, provider }) => sourceOfPlaces.test(`${id} ${provider}`))
  return {
    scenario: scenario.name,
    asked,
    same: asked - different.length,
    faults: alike ? different.slice(0, 5) : [],
  }
}

function numberOf({ location }: CheckAnswer): number {
  return location === null ? 0 : countryNumber(location)
}

function nameOf(number: number): string {
  return number === 0 ? 'none' : String.fromCharCode(number >> 8, number & 0xff)
}
