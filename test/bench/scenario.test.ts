// The scenarios: the same seed gives the same addresses, all of them announced, in the shape that
// the distribution promises; and the operations over them, which must agree with each other.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { announcedSpace, lastAtMost } from '../../bench/announced.ts'
import { operations } from '../../bench/operation.ts'
import { newRandom } from '../../bench/random.ts'
import {
  type Addresses,
  type Scenario,
  drawAddresses,
  scenarioNamed,
  scenarios,
  zipfRanks,
} from '../../bench/scenario.ts'
import { newWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse.ts'
import { type OpenTable, openTable } from '../../src/table/open.ts'
import { writeSmallTable } from '../table/small.ts'

let table: OpenTable

beforeAll(() => {
  table = openTable(writeSmallTable())
})

afterAll(() => table.close())

function draw(scenario: Scenario, count: number, seed = 5): Addresses {
  const space = announcedSpace(table.reader.views, scenario.family)
  return drawAddresses(scenario, { space, count, seed })
}

describe.each(scenarios)('the scenario $name', (scenario) => {
  it('gives the same addresses for the same seed, and others for another', () => {
    const [first, second] = [draw(scenario, 500), draw(scenario, 500)]
    expect(first.texts).toEqual(second.texts)
    expect(first.words).toEqual(second.words)
    expect(draw(scenario, 500, 6).texts).not.toEqual(first.texts)
    expect(scenarioNamed(scenario.name)).toBe(scenario)
  })

  it('draws announced addresses, the words those of the text', () => {
    const { texts, words, family, count } = draw(scenario, 500)
    expect(texts).toHaveLength(count)
    const parsed = newWords()
    texts.forEach((text, index) => {
      expect(parseAddress(text, parsed)).toBe(family)
      expect([...parsed]).toEqual([...words.subarray(index * 4, index * 4 + 4)])
      expect(table.check(text)).not.toMatchObject({ network: null })
    })
  })

  it('is summed up alike by every operation that finds records, whole and in parts', () => {
    const addresses = draw(scenario, 300)
    const passOf = (name: string) => {
      const operation = operations.find((row) => row.name === name)
      if (operation === undefined) throw new Error(`no operation ${name}`)
      return operation.prepare(table, addresses)
    }
    expect(passOf('locate')(0, 300)).toBe(passOf('find')(0, 300))
    for (const { name, prepare } of operations) {
      const pass = prepare(table, addresses)
      const parts = (pass(0, 100) + pass(100, 300)) % 2 ** 32
      expect({ name, sum: pass(0, 300) }).toEqual({ name, sum: parts })
      expect(parts).not.toBe(0)
    }
  })
})

describe('the uniform distribution', () => {
  it('draws each announced network by its size', () => {
    // Three networks of one /8 each.
    const scenario = { name: 'test', family: 4, distribution: 'uniform' } as const
    const tops = draw(scenario, 9000).texts.map((text) => text.split('.')[0])
    for (const top of ['9', '11', '12']) {
      expect(Math.abs(tops.filter((it) => it === top).length - 3000)).toBeLessThan(250)
    }
  })

  it('refuses a table without networks', () => {
    const views = {
      ...table.reader.views,
      records: new Uint32Array(table.reader.views.records.length),
    }
    expect(() => announcedSpace(views, 4)).toThrow('no network')
  })
})

describe('the zipf distribution', () => {
  it('draws rank k in proportion to 1/k', () => {
    const ranks = 1000
    const draws = 200_000
    const rank = zipfRanks(newRandom(3), ranks)
    const counts = new Float64Array(ranks)
    for (let draw = 0; draw < draws; draw++) counts[rank()]! += 1
    const harmonic = Array.from({ length: ranks }, (_, k) => 1 / (k + 1)).reduce((a, b) => a + b)
    for (const k of [0, 1, 2, 9, 99]) {
      const expected = draws / (k + 1) / harmonic
      expect(Math.abs(counts[k]! - expected)).toBeLessThan(5 * Math.sqrt(expected))
    }
    expect(counts.reduce((a, b) => a + b)).toBe(draws)
  })

  it('searches as a plain scan does', () => {
    const values = Float64Array.of(0, 0.5, 0.75, 0.9)
    for (const value of [0, 0.1, 0.5, 0.74, 0.75, 0.9, 0.99]) {
      expect(lastAtMost(values, value)).toBe(values.findLastIndex((it) => it <= value))
    }
  })
})
