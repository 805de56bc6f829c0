// Which answers are given again: for how long, for which addresses, and how many.

import { describe, expect, it } from 'vitest'
import { createAnswerCache } from '../../../src/client/core/answer-cache.ts'
import type { Insights } from '../../../src/client/generated/wire-types.ts'
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
  it('keeps one for its time', () => {
    const { clock, keep, has } = cacheOf()
    keep('192.0.2.1')
    clock.now = 4999
    expect(has('192.0.2.1')).toBe(true)
    clock.now = 5000
    expect(has('192.0.2.1')).toBe(false)
  })

  it('lets go of the least recently used one', () => {
    const { keep, has } = cacheOf()
    for (const last of [1, 2, 3]) keep(`192.0.2.${last}`)
    expect(has('192.0.2.1')).toBe(true)
    keep('192.0.2.4')
    expect([1, 2, 3, 4].map((last) => has(`192.0.2.${last}`))).toEqual([true, false, true, true])
  })

  it('is emptied by an answer of another table', () => {
    const { keep, has } = cacheOf()
    keep('192.0.2.1')
    keep('192.0.2.2', { table: 'table-2' })
    expect([has('192.0.2.1'), has('192.0.2.2')]).toEqual([false, true])
  })

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

  it.each([{ max: 0 }, { keptMs: 0 }])('keeps none with %j', (options) => {
    const { keep, has } = cacheOf(options)
    keep('192.0.2.1')
    expect(has('192.0.2.1')).toBe(false)
  })
})

/** Insights as far as the cache reads them. */
function insightsOf(scope: string, listed: readonly object[]): { readonly insights: Insights } {
  const neighborhood = [
    { scope, unit: '/64', size: 1, listed },
    { scope: '2a00:1:2::/48', unit: '/64', size: 65536, listed: [] },
  ]
  return { insights: { neighborhood } as unknown as Insights }
}
const nothingListed = insightsOf('2a00:1:2:3::/64', [])
const somethingListed = insightsOf('2a00:1:2:3::/64', [{ kind: 'vpn' }])

describe('a /64 of IPv6', () => {
  it('shares an answer that says that nothing in it is listed, under the text that was sent', () => {
    const { cache, keep } = cacheOf()
    keep('2a00:1:2:3::1', { ...nothingListed, address: '2a00:1:2:3::1' }, true)
    const found = cache.find(terms('2a00:1:2:3::ffff', true))
    expect(found).toMatchObject({ ip: '2a00:1:2:3::ffff', version: 6 })
    expect(found).not.toHaveProperty('address')
    expect(cache.find(terms('2a00:1:2:4::1', true))).toBeUndefined()
    expect(cache.find(terms('2a00:1:2:3::2'))).toBeUndefined()
  })

  it.each([
    ['does not say so', {}],
    ['has no insights', { insights: null }],
    ['says that something is', somethingListed],
  ])('does not where it %s', (_claim, more) => {
    const { cache, keep } = cacheOf()
    keep('2a00:1:2:3::1', more, true)
    expect(cache.find(terms('2a00:1:2:3::1', true))).toBeDefined()
    expect(cache.find(terms('2a00:1:2:3::2', true))).toBeUndefined()
  })

  it.each([
    ['6to4', '2002:900:1::1', '2002:900:1::2'],
    ['Teredo', '2001:0:1:2::1', '2001:0:1:2::2'],
    ['NAT64', '64:ff9b::9.0.0.1', '64:ff9b::9.0.0.2'],
    ['IPv4', '9.0.0.1', '9.0.0.2'],
  ])('does not where the rest decides, too: %s', (_name, ip, other) => {
    const { cache, keep } = cacheOf()
    keep(ip, nothingListed, true)
    expect(cache.find(terms(ip, true))).toBeDefined()
    expect(cache.find(terms(other, true))).toBeUndefined()
  })
})
