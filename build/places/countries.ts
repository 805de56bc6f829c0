// Facts about countries: names, continent and currency from countries-list; reference point and
// single time zone from data/tables/countries.csv, which must have the same codes. Not from
// Intl.DisplayNames, which changes with Node's ICU: equal inputs must give equal tables.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { continents, countries, type TContinentCode } from 'countries-list'
import { type IpriskError, inputError } from '../../src/base/coded-error.ts'
import { packageRoot } from '../../src/base/package-root.ts'

export interface Country {
  readonly code: string
  readonly name: string
  readonly continentCode: TContinentCode
  readonly continent: string
  /** ISO 4217, the first of several; '' in Antarctica. */
  readonly currency: string
  /** In degrees. */
  readonly latitude: number
  readonly longitude: number
  /** The IANA zone if the country has only one, else ''. */
  readonly timezone: string
}

const countriesFile = join(packageRoot, 'data', 'tables', 'countries.csv')

/** Throws `countries_invalid` with file and line. */
export function readCountries(path: string = countriesFile): ReadonlyMap<string, Country> {
  const byCode = new Map<string, Country>()
  const lines = readFileSync(path, 'utf8').split('\n')
  const header = lines.findIndex((line) => line !== '' && !line.startsWith('#'))
  if (lines[header] !== 'code,latitude,longitude,timezone') {
    throw countriesError(`${path}: line ${header + 1}: not the header code,latitude,…`)
  }
  for (const [index, line] of lines.entries()) {
    if (index <= header || line === '' || line.startsWith('#')) continue
    const country = parseCountry(line)
    if (country === undefined || byCode.has(country.code)) {
      throw countriesError(`${path}: line ${index + 1}: not a country's only row: ${line}`)
    }
    byCode.set(country.code, country)
  }
  const missing = Object.keys(countries).filter((code) => !byCode.has(code))
  if (missing.length > 0) throw countriesError(`${path}: no row for ${missing.join(', ')}`)
  return byCode
}

function parseCountry(line: string): Country | undefined {
  const match = /^([A-Z]{2}),(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?),([A-Za-z_/-]*)$/.exec(line)
  const [, code = '', latitude, longitude, timezone = ''] = match ?? []
  const facts = Object.hasOwn(countries, code)
    ? countries[code as keyof typeof countries]
    : undefined
  if (facts === undefined) return undefined
  return {
    code,
    name: facts.name,
    continentCode: facts.continent,
    continent: continents[facts.continent],
    currency: facts.currency[0] ?? '',
    latitude: Number(latitude),
    longitude: Number(longitude),
    timezone,
  }
}

const countriesError = (problem: string): IpriskError =>
  inputError('countries_invalid', `${problem}. Fix the table; its header describes the columns.`)
