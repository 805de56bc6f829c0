// What members can hold, against what answers do hold: a literal must not be called impossible
// because this list and the compiler's sources differ.

import { continents as listedContinents, getCountryDataList } from 'countries-list'
import { describe, expect, it } from 'vitest'
import { readCountries } from '../../../build/places/countries.ts'
import { continents, countries } from '../../../src/model/countries.ts'
import { listValues, memberValues } from '../../../src/policy/condition/member-values.ts'
import {
  factsOf,
  objectMembers,
  plainMembers,
} from '../../../src/policy/condition/condition-members.ts'
import { travelOf } from '../../../src/context/travel.ts'
import { newQuery, parseQuery } from '../../../src/table/lookup/query.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { sampleAddresses } from '../sample-addresses.ts'

function allows(path: string, value: unknown): boolean {
  const values = memberValues.get(path)
  if (values === undefined) return typeof value === 'boolean'
  if (values.kind === 'text') {
    const word = value as string
    return values.allows(word) && (values.words?.includes(word) ?? true)
  }
  const number = Number(value)
  return number >= values.min && number <= values.max && (values.values?.includes(number) ?? true)
}

describe('memberValues', () => {
  it('has the countries and continents that the compiler puts in tables', () => {
    const compiled = [...readCountries().values()]
    expect(countries.map(({ code }) => code)).toEqual(compiled.map(({ code }) => code).toSorted())
    for (const { code, name, currency, continentCode, continent } of compiled) {
      expect(countries.find((one) => one.code === code)).toMatchObject({ name, currency })
      expect(continents[continentCode]).toBe(continent)
      expect(allows('location.country', name)).toBe(true)
    }
    expect(continents).toEqual(listedContinents)
    for (const { iso2, iso3, alias = [] } of getCountryDataList()) {
      expect(countries.find(({ code }) => code === iso2)).toMatchObject({
        alpha3: iso3,
        aliases: alias,
      })
    }
  })

  it('allows the time zones that the compiler puts in tables', () => {
    const zones = [...readCountries().values()].map(({ timezone }) => timezone)
    expect(zones.filter((zone) => !allows('location.timezone', zone))).toEqual([])
  })

  it('has a row for each member that is no boolean, and allows what answers hold', () => {
    const table = openTable(writeSmallTable())
    const types = [
      ...Object.entries(plainMembers),
      ...Object.entries(objectMembers).flatMap(([object, members]) =>
        Object.entries(members).map(([name, type]) => [`${object}.${name}`, type] as const),
      ),
    ]
    for (const [path, type] of types) {
      const known = type === 'list<string>' ? listValues.has(path) : memberValues.has(path)
      expect(known, path).toBe(type !== 'bool')
    }
    const refused: string[] = []
    let checked = 0
    for (const address of sampleAddresses(300)) {
      const answer = table.check(address)
      if (answer === undefined) continue
      const query = newQuery()
      parseQuery(query, Buffer.from(address), 0, address.length)
      const { located, reader } = table.answer(query)
      const travel = travelOf(reader, located, { ip: '11.1.1.1', hours: 1 / 60 })
      const facts: Readonly<Record<string, unknown>> = factsOf({ ...answer, travel }, [])
      for (const [path, type] of types) {
        const [object = '', member = ''] = path.split('.')
        const empty = { bool: false, int: 0, double: 0, string: '' }[type as 'int']
        const of = facts[object] as Readonly<Record<string, unknown>> | null
        const value = member === '' ? facts[object] : (of?.[member] ?? empty)
        checked += 1
        const isAllowed =
          type === 'list<string>'
            ? (value as string[]).every(listValues.get(path)!.of.allows)
            : allows(path, value)
        if (!isAllowed) refused.push(`${path} of ${address}: ${String(value)}`)
      }
    }
    expect(refused).toEqual([])
    expect(checked).toBeGreaterThan(1000)
  })
})
