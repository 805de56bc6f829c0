// What the hot path is in kind: optimised code that stays optimised, and no garbage. Fails where a
// change makes a function of it polymorphic or lets it allocate, not where a machine is slow.

import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { parseCheckBody } from '../../../src/http/endpoint/check-body.ts'
import { parseQuery, newQuery } from '../../../src/table/lookup/query.ts'
import { locate, newLocated } from '../../../src/table/lookup/locate.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../small-table.ts'
import { inForm } from '../../form.ts'

setFlagsFromString('--allow-natives-syntax')
const statusOf = runInThisContext('(work) => %GetOptimizationStatus(work)') as (
  work: (...args: never[]) => unknown,
) => number
const neverOptimise = runInThisContext('(work) => %NeverOptimizeFunction(work)') as (
  work: (...args: never[]) => unknown,
) => void
/** Of V8's OptimizationStatus (src/runtime/runtime.h): compiled by TurboFan. */
const turboFan = 1 << 6

const addresses = ['9.1.2.3', '11.5.5.5', '13.0.0.1', '10.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3']
const bodies = addresses.map((ip) => new Uint8Array(Buffer.from(JSON.stringify({ ip }))))
const table = openTable(writeSmallTable())
const { views } = table.reader
const query = newQuery()
const located = newLocated()

/** Body to answer, as check.ts of the server goes; a sum, so that nothing is left out. */
function answerAll(rounds: number): number {
  let sum = 0
  for (let round = 0; round < rounds; round++) {
    for (const body of bodies) {
      if (parseCheckBody(query, body)) sum += table.answer(query).body.length
    }
  }
  return sum
}

/** Calls each by itself: what V8 inlines into optimised callers alone is never compiled itself. */
function callEach(rounds: number): number {
  let sum = 0
  for (let round = 0; round < rounds; round++) {
    for (const body of bodies) {
      if (!parseCheckBody(query, body)) continue
      if (!parseQuery(query, query.bytes, query.from, query.to)) continue
      locate(views, query.family === 4 ? 4 : 6, query.words, located)
      sum += located.verdict
    }
  }
  return sum
}
neverOptimise(callEach)

const samples = inForm({ short: 7, full: 21 })

/** Bytes of heap that a call of `work` takes: of many rounds the median, as some see a collection. */
function bytesPerRound(work: (rounds: number) => unknown): number {
  const rounds = 10_000
  const found = Array.from({ length: samples }, () => {
    const before = process.memoryUsage().heapUsed
    work(rounds)
    return (process.memoryUsage().heapUsed - before) / rounds
  })
  return found.sort((a, b) => a - b)[samples >> 1]!
}

describe('the hot path', () => {
  it('makes no garbage from a body to its answer', () => {
    answerAll(20_000)
    expect(bytesPerRound(answerAll)).toBeLessThan(8)
    // The measure sees garbage where there is some: six short strings a round.
    const strings: string[] = []
    const allocating = (rounds: number): void => {
      for (let round = 0; round < rounds; round++) strings[round % 7] = `${round}:${rounds}`
    }
    expect(bytesPerRound(allocating)).toBeGreaterThan(8)
  })

  it('is optimised and stays so', async () => {
    const works = [parseCheckBody, parseQuery, locate]
    const isOptimised = (work: (typeof works)[number]) => (statusOf(work) & turboFan) !== 0
    const answer = () => {
      answerAll(50_000)
      callEach(50_000)
    }
    // V8 compiles in a thread, which a busy machine keeps waiting.
    for (let tries = 0; tries < 20 && !works.every(isOptimised); tries++) {
      answer()
      await setTimeout(20)
    }
    answer()
    for (const work of works) {
      expect(isOptimised(work), work.name).toBe(true)
    }
  })
})
