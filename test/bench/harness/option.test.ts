// How benchmark programs read their command lines.

import { resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readFlags, tablePath } from '../../../bench/harness/option.ts'

const given = process.argv
afterEach(() => {
  process.argv = given
})

const taken = {
  numbers: {
    rounds: { max: 10, otherwise: 4, smoke: 1 },
    seed: { min: 0, max: 10, otherwise: 7 },
  },
  texts: ['table'],
  switches: ['smoke', 'json'],
} as const

function read(...flags: readonly string[]) {
  process.argv = ['node', 'program', ...flags]
  return readFlags(taken)
}

describe('flags', () => {
  it('are what the program says where nobody gives them', () => {
    expect(read()).toEqual({ rounds: 4, seed: 7, smoke: false, json: false, positionals: [] })
    expect(read('--smoke')).toMatchObject({ rounds: 1, seed: 7, smoke: true })
    expect(read('--smoke', '--rounds', '2', '--table', 'a')).toMatchObject({
      rounds: 2,
      table: 'a',
    })
  })

  it('are whole numbers in their limits', () => {
    expect(read('--rounds', '10').rounds).toBe(10)
    expect(read('--seed', '0').seed).toBe(0)
    for (const text of ['0', '11', '', '-1', '1.5', '1e1', 'six']) {
      expect(() => read(`--rounds=${text}`)).toThrow('from 1 to 10')
    }
  })

  it('are refused where the program does not take them', () => {
    expect(() => read('--fast')).toThrow("Unknown option '--fast'")
    expect(() => read('a')).toThrow("Unexpected argument 'a'")
    process.argv = ['node', 'program', 'a', '--json']
    const { positionals, json } = readFlags({ switches: ['json'], positionals: true })
    expect({ positionals, json }).toEqual({ positionals: ['a'], json: true })
  })
})

describe('a table', () => {
  it('is named by a path that exists, and becomes absolute', () => {
    expect(tablePath('package.json')).toBe(resolve('package.json'))
    expect(() => tablePath('no/such.iprisk')).toThrow('no table at no/such.iprisk')
  })
})
