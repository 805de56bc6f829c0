// Which answers a worker chooses for the sample of traffic.

import { describe, expect, it } from 'vitest'
import { createTrafficSampler } from '../../src/observe/traffic-sampler.ts'
import { factsAbout } from './facts-about.ts'

const day = 20_687
const now = (): number => day * 86_400_000 + 5

describe('a sampler', () => {
  it('chooses by lot, and says of what is chosen the address as judged and its policy', () => {
    const sampler = createTrafficSampler(now)
    expect(sampler.below()).toBe(1)
    sampler.drawBelow(0.5)
    expect(sampler.below()).toBe(0.5)
    sampler.take([factsAbout('192.0.2.1', { lot: 0.4, policy: 'login' })])
    sampler.take([factsAbout('192.0.2.2', { lot: 0.6 })])
    sampler.take([
      factsAbout('::ffff:192.0.2.3', { lot: 0.1 }),
      factsAbout('192.0.2.4', { lot: 0.9 }),
      factsAbout('192.0.2.5', { lot: 0.2 }),
    ])
    expect(sampler.chosen()).toEqual([
      { lot: 0.4, day, policy: 'login', address: '192.0.2.1' },
      { lot: 0.1, day, policy: '', address: '192.0.2.3' },
      { lot: 0.2, day, policy: '', address: '192.0.2.5' },
    ])
    expect(sampler.chosen()).toEqual([])
  })

  it('holds no more than is good for it between two calls', () => {
    const sampler = createTrafficSampler(now)
    const facts = factsAbout('192.0.2.1', {})
    for (let i = 0; i < 5000; i += 1) sampler.take([facts])
    expect(sampler.below()).toBe(0)
    expect(sampler.chosen()).toHaveLength(4096)
    sampler.take([facts])
    expect(sampler.chosen()).toHaveLength(1)
  })
})
