// Which answers are given again: for how long, for which addresses, and how many.

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

describe('the prefix of an answer', () => {
  it.each([
    [
      '192.0.2.1',
      '192.0.2.0/25',
      ['192.0.2.127', '::ffff:192.0.2.9'],
      ['192.0.2.128', '192.0.3.1'],
    ],
    ['192.0.2.1', '192.0.2.1/32', ['::ffff:192.0.2.1'], ['192.0.2.0']],
    ['192.0.2.1', '0.0.0.0/0', ['9.9.9.9'], ['2a00::1']],
    ['::ffff:192.0.2.1', '192.0.2.0/24', ['192.0.2.7'], ['192.0.3.7']],
    [
      '2a00:1:2:3::1',
      '2a00:1:2:3::/64',
      ['2a00:1:2:3::ffff', '2A00:1:2:3:0::1'],
      ['2a00:1:2:4::1'],
    ],
    ['2a00::1', '2a00::/17', ['2a00:7fff::'], ['2a00:8000::', '0.0.42.0']],
  ])('of %s, %s, shares it with its addresses alone', (ip, prefix, inside, outside) => {
    const { keep, has } = cacheOf()
    keep(ip, { prefix })
    expect([ip, ...inside].map(has)).toEqual([true, ...inside.map(() => true)])
    expect(outside.map(has)).toEqual(outside.map(() => false))
  })

  it('shares it as the server would answer: with the text as sent and the canonical one', () => {
    const { cache, keep } = cacheOf()
    keep('2A00::1', { prefix: '2a00::/16', address: '2a00::1', version: 6 })
    const { address: _none, ...other } = cache.find(terms('2a00::2'))!
    expect(other).toMatchObject({ ip: '2a00::2', version: 6 })
    for (const [ip, address] of [
      ['2A00:0:0:1:0:0:0:1', '2a00:0:0:1::1'],
      ['2a00:0:1:0:0:1:0:0', '2a00:0:1::1:0:0'],
      ['2a00:1:2:3:4:5:6:0000', '2a00:1:2:3:4:5:6:0'],
      ['2a00:0:1:1:1:1:1:1', undefined],
    ] as const) {
      expect(cache.find(terms(ip))?.address).toBe(address)
    }
  })

  it.each([
    ['of another network', '198.51.100.0/24'],
    ['of the other family', '2a00::/16'],
    ['too long', '192.0.2.1/33'],
    ['none', '192.0.2.0'],
    ['odd', '192.0.2.0/+8'],
    ['no text', 7],
  ])('is not believed: %s', (_name, prefix) => {
    const { keep, has } = cacheOf()
    keep('192.0.2.1', { prefix })
    expect([has('192.0.2.1'), has('192.0.2.2')]).toEqual([true, false])
  })

  it('belongs to a policy and to insights, and goes with its time and its table', () => {
    const { cache, clock, keep, has } = cacheOf()
    keep('192.0.2.1', { prefix: '192.0.2.0/24' })
    expect(cache.find(terms('192.0.2.2', true))).toBeUndefined()
    expect(cache.find({ ...terms('192.0.2.2'), policy: 'login' })).toBeUndefined()
    keep('192.0.2.1', { prefix: '192.0.2.0/30', table: 'table-2' })
    expect([has('192.0.2.3'), has('192.0.2.4')]).toEqual([true, false])
    clock.now = 5000
    expect(has('192.0.2.3')).toBe(false)
  })
})
