// Which answers are given again: what the vectors of all clients (client-vectors.test.ts) do not say.

import { describe, expect, it } from 'vitest'
import { createAnswerCache } from '../../../src/client/core/answer-cache.ts'
import { answerFor } from '../stand-in.ts'

const terms = (ip: string, insights = false) => ({ ip, policy: '', insights })

function cacheOf(options: { readonly max?: number; readonly keptMs?: number } = {}) {
  const clock = { now: 0 }
  const cache = createAnswerCache({ max: 3, keptMs: 5000, ...options, now: () => clock.now })
  const keep = (ip: string, more = {}, insights = false, chars = 1000): void =>
    cache.keep(terms(ip, insights), answerFor(ip, more), chars)
  const has = (ip: string): boolean => cache.find(terms(ip)) !== undefined
  return { clock, cache, keep, has }
}

describe('the cache of answers', () => {
  it('holds 16 Mi characters, whatever came and went before', () => {
    const { clock, keep, has } = cacheOf({ max: 1000, keptMs: 5000 })
    const chars = 1024 * 1024
    const held = (): number =>
      Array.from({ length: 100 }, (_, last) => has(`192.0.2.${last}`)).filter(Boolean).length
    const fill = (more = {}): void => {
      for (let last = 0; last < 20; last++) keep(`192.0.2.${last}`, more, false, chars)
    }
    fill()
    expect([held(), has('192.0.2.3'), has('192.0.2.4')]).toEqual([16, false, true])
    // The same again, another table, and what has expired.
    fill()
    expect(held()).toBe(16)
    fill({ table: 'table-2' })
    expect(held()).toBe(16)
    clock.now = 5000
    expect(held()).toBe(0)
    fill({ table: 'table-2' })
    expect(held()).toBe(16)
    keep('192.0.2.99', { table: 'table-2' }, false, 1)
    expect(held()).toBe(16)
    expect(has('192.0.2.99')).toBe(true)
  })
})

describe('the prefix of an answer', () => {
  it('belongs to insights, and goes with its time and its table', () => {
    const { cache, clock, keep, has } = cacheOf()
    keep('192.0.2.1', { prefix: '192.0.2.0/24' })
    expect(cache.find(terms('192.0.2.2', true))).toBeUndefined()
    keep('192.0.2.1', { prefix: '192.0.2.0/30', table: 'table-2' })
    expect([has('192.0.2.3'), has('192.0.2.4')]).toEqual([true, false])
    clock.now = 5000
    expect(has('192.0.2.3')).toBe(false)
  })
})
