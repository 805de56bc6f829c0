// The scenarios: the same seed gives the same addresses, all of them announced, in the shape that
// the distribution promises; and the operations over them, which must agree with each other.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { announcedSpace, lastAtMost } from '../../../../bench/speed/lookups/announced.ts'
import { operations } from '../../../../bench/speed/lookups/operation.ts'
import { dependentPass, pass } from '../../../../bench/speed/lookups/loop.ts'
import { newRandom } from '../../../../bench/harness/random.ts'
import {
  type Addresses,
  type Scenario,
  drawAddresses,
  hotAddresses,
  scenarioNamed,
  scenarios,
  spaceOfScenario,
  zipfRanks,
} from '../../../../bench/speed/lookups/scenario.ts'
import { newAddressWords } from '../../../../src/ip/address.ts'
import { parseAddress } from '../../../../src/ip/parse-address.ts'
import { type OpenTable, openTable } from '../../../../src/table/open-table.ts'
import { writeSmallTable } from '../../../table/small-table.ts'

let table: OpenTable

beforeAll(() => {
  table = openTable(writeSmallTable())
})

afterAll(() => table.close())

function draw(scenario: Scenario, count: number, seed = 5): Addresses {
  const space = spaceOfScenario(table.reader.views, scenario)
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

  it('draws addresses that a network holds, or that none does, the words those of the text', () => {
    const { texts, words, family, count } = draw(scenario, 500)
    expect(texts).toHaveLength(count)
    const parsed = newAddressWords()
    texts.forEach((text, index) => {
      expect(parseAddress(text, parsed)).toBe(family)
      expect([...parsed]).toEqual([...words.subarray(index * 4, index * 4 + 4)])
      // No network and still judged: no bogon either.
      const answer = table.check(text)
      expect(answer?.network === null).toBe(scenario.miss)
      expect(answer?.classification).not.toBe('bogon')
    })
  })

  it('is summed up alike by every operation that finds records, whole and in parts', () => {
    const addresses = draw(scenario, 300)
    const stepOf = (name: string) => {
      const operation = operations.find((row) => row.name === name)
      if (operation === undefined) throw new Error(`no operation ${name}`)
      return operation.prepare(table, addresses)
    }
    expect(pass(stepOf('locate'), 0, 300)).toBe(pass(stepOf('find'), 0, 300))
    for (const { name, prepare } of operations) {
      const step = prepare(table, addresses)
      const parts = (pass(step, 0, 100) + pass(step, 100, 300)) % 2 ** 32
      expect({ name, sum: pass(step, 0, 300) }).toEqual({ name, sum: parts })
      expect({ name, sum: dependentPass(step, 0, 300) }).toEqual({ name, sum: parts })
      // What finds nothing may well sum up to nothing.
      expect(parts !== 0 || scenario.miss).toBe(true)
    }
  })
})

describe('the uniform distribution', () => {
  it('draws each announced network by its size', () => {
    // Three networks of one /8 each.
    const scenario = scenarioNamed('ipv4-uniform')!
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

describe('the hot distribution', () => {
  it('has few addresses', () => {
    expect(new Set(draw(scenarioNamed('ipv4-hot')!, 5000).texts).size).toBe(hotAddresses)
  })
})

describe('the scenarios', () => {
  it('are every combination, once', () => {
    expect(scenarios).toHaveLength(2 * 2 * 2 * 4)
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
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
