// Which answers a worker chooses for the sample of traffic.

import { describe, expect, it } from 'vitest'
import { createTrafficSampler } from '../../src/observe/traffic-sampler.ts'

const bytes = (...answers: readonly object[]): Uint8Array =>
  new TextEncoder().encode(answers.map((one) => JSON.stringify(one)).join())

const day = 20_687
const now = (): number => day * 86_400_000 + 5

describe('a sampler', () => {
  it('chooses by lot, and says of what is chosen the address as judged and its policy', () => {
    const lots = [0.4, 0.6, 0.1, 0.9, 0.2]
    const sampler = createTrafficSampler({ random: () => lots.shift()!, now })
    sampler.drawBelow(0.5)
    sampler.take(bytes({ ip: '192.0.2.1', decision: { policy: 'login' } }), 1)
    sampler.take(bytes({ ip: '192.0.2.2' }), 1)
    const mapped = { ip: '::ffff:192.0.2.3', address: '192.0.2.3' }
    const wrong = { ip: 'x', error: { code: 'invalid_input' } }
    sampler.take(bytes(wrong, mapped, { ip: '192.0.2.4' }, { ip: '192.0.2.5' }), 3)
    expect(sampler.chosen()).toEqual([
      { lot: 0.4, day, policy: 'login', address: '192.0.2.1' },
      { lot: 0.1, day, policy: '', address: '192.0.2.3' },
      { lot: 0.2, day, policy: '', address: '192.0.2.5' },
    ])
    expect(sampler.chosen()).toEqual([])
  })

  it('holds no more than is good for it between two calls', () => {
    const sampler = createTrafficSampler({ now })
    for (let i = 0; i < 5000; i += 1) sampler.take(bytes({ ip: '192.0.2.1' }), 1)
    expect(sampler.chosen()).toHaveLength(4096)
    sampler.take(bytes({ ip: '192.0.2.1' }), 1)
    expect(sampler.chosen()).toHaveLength(1)
  })
})
