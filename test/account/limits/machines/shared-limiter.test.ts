// The limiter of many machines on simulated nodes, one thing after the other: how a machine shares
// its balance, what a batch waits for, what becomes of leases and debts while the store is away.

import { describe, expect, it } from 'vitest'
import { sharedBucketSizes } from '../../../../src/account/limits/shared-bucket.ts'
import { remainingIndex, remainingLength } from '../../../../src/account/limits/ratelimit-values.ts'
import type { EffectiveLimits } from '../../../../src/account/keys/key-limits.ts'
import { type RateResult, rateResults } from '../../../../src/account/limits/rate.ts'
import { quotaResults, quotaWaitingMax } from '../../../../src/account/limits/quota.ts'
import { NodesSimulator } from './many-machines.ts'

const wallMs = Date.UTC(2026, 7, 31, 23, 59, 57)

describe('a machine among many', () => {
  const rate = { perSecond: 50, burst: 100 }
  const three = (
    limits: EffectiveLimits,
    policy: 'serve' | 'refuse' = 'refuse',
  ): NodesSimulator => {
    const map = new Map([['k', limits]])
    return new NodesSimulator({
      nodes: 3,
      workers: 2,
      wallMs: wallMs - 1e9,
      limits: map,
      policy,
    })
  }
  const admitted = (sim: NodesSimulator, worker: number, times: number): number => {
    const before = sim.granting
    for (let i = 0; i < times; i += 1) sim.admit(worker, 'k', 1)
    return sim.granting - before
  }
  const cut = (sim: NodesSimulator): void => {
    for (let node = 0; node < 3; node += 1) sim.cuts.set(node, 'before')
    for (let worker = 0; worker < 6; worker += 1) sim.aware.add(worker)
  }
  const resultOf = (sim: NodesSimulator, worker: number, requests = 1): number | undefined => {
    const [held, key] = [sim.workers[worker], sim.workers[worker]?.keys.get('k')]
    return key === undefined ? undefined : held?.limiter.spendRate(key, requests, sim.nowMs)
  }
  /** Of a batch, which may have to ask the store. */
  const batchOf = async (sim: NodesSimulator, worker: number, requests: number) => {
    const [held, key] = [sim.workers[worker], sim.workers[worker]?.keys.get('k')]
    if (held === undefined || key === undefined) throw new Error('no worker')
    const result = held.limiter.spendRate(key, requests, sim.nowMs)
    if (result !== rateResults.pending) return result
    return new Promise<RateResult>((resolve) => {
      held.limiter.spendRateLater(key, requests, resolve)
      void sim.settle()
    })
  }

  /** How many of `times` checks on the first worker have quota, asking the store where it must. */
  const servedOf = async (sim: NodesSimulator, times: number): Promise<number> => {
    const [limiter, key] = [sim.workers[0]?.limiter, sim.workers[0]?.keys.get('k')]
    if (limiter === undefined || key === undefined) throw new Error('no worker')
    let granted = 0
    for (let i = 0; i < times; i += 1) {
      let result = limiter.spendQuota(key, 1, sim.nowMs)
      if (result === quotaResults.pending) {
        await sim.settle()
        result = limiter.spendQuota(key, 1, sim.nowMs)
      }
      if (result === quotaResults.granted) granted += 1
    }
    return granted
  }

  it('shares its balance among its workers, and gives idle rate back', async () => {
    const sim = three({ rate })
    expect(admitted(sim, 0, 40)).toBe(25)
    await sim.settle()
    expect(admitted(sim, 0, 30)).toBe(30)
    expect(admitted(sim, 1, 30)).toBe(20)
    for (let look = 0; look < 30; look += 1) {
      sim.advance(200)
      for (const worker of [0, 1]) sim.tick(worker)
      await sim.settle()
    }
    expect(admitted(sim, 2, 1000) + admitted(sim, 3, 1)).toBe(25)
    await sim.settle()
    expect(admitted(sim, 3, 1000)).toBe(50)
  })

  it('has a batch wait for all that it needs, however much it keeps itself', async () => {
    const sim = three({ rate })
    expect(await batchOf(sim, 0, 101)).toBe(rateResults.exceeded)
    expect(await batchOf(sim, 0, 100)).toBe(rateResults.granted)
    expect(await batchOf(sim, 2, 100)).toBe(rateResults.exceeded)
    sim.advance(2000)
    // Its own request before it has been granted from what the node then asks for.
    for (const worker of [0, 2, 4]) {
      sim.admit(worker, 'k', 1)
      expect(await batchOf(sim, worker, 99)).toBe(rateResults.granted)
      sim.advance(6000)
      for (let one = 0; one < 6; one += 1) sim.tick(one)
      await sim.settle()
    }
  })

  it('answers a batch by the policy where the store does not', async () => {
    const refusing = three({ rate })
    const serving = three({ rate }, 'serve')
    for (const sim of [refusing, serving]) {
      sim.admit(0, 'k', 1)
      await sim.settle()
      for (let node = 0; node < 3; node += 1) sim.cuts.set(node, 'before')
    }
    expect(await batchOf(refusing, 0, 99)).toBe(rateResults.unavailable)
    expect(await batchOf(serving, 0, 60)).toBe(rateResults.granted)
    expect(await batchOf(serving, 0, 60)).toBe(rateResults.exceeded)
  })

  it('holds no more than its lease after a refused batch, though requests trickle in', async () => {
    const sim = three({ rate })
    // One node after the other has a batch refused, and then goes on with little.
    for (const worker of [0, 2, 4]) {
      await batchOf(sim, worker, 100)
      await batchOf(sim, worker, 101)
      for (let i = 0; i < 25; i += 1) {
        sim.advance(100)
        for (const one of [0, 2, 4]) {
          sim.admit(one, 'k', 1)
          sim.tick(one)
        }
        await sim.settle()
      }
    }
    sim.advance(2000)
    const before = sim.granting
    for (let round = 0; round < 30; round += 1) {
      for (let i = 0; i < 100; i += 1) sim.admit((i % 3) * 2, 'k', 1)
      await sim.settle()
    }
    expect(sim.granting - before).toBeLessThanOrEqual(
      rate.burst + 3 * sharedBucketSizes(rate).lease,
    )
  })

  it('loses nothing of an idle lease while the store is away', async () => {
    const sim = three({ quotaPerMonth: 1000 })
    sim.spend(0, 'k', 1)
    await sim.settle()
    cut(sim)
    for (let look = 0; look < 60; look += 1) {
      sim.advance(200)
      sim.tick(0)
      await sim.settle()
    }
    sim.cuts.clear()
    sim.aware.clear()
    for (let worker = 0; worker < 6; worker += 1) await sim.drain(worker)
    expect(sim.counters.get('2026-08 k')?.value).toBe(1)
  })

  it('says what is left and when to come again', async () => {
    const sim = three({ rate })
    const out = new Float64Array(remainingLength)
    const [limiter, key] = [sim.workers[0]?.limiter, sim.workers[0]?.keys.get('k')]
    if (limiter === undefined || key === undefined) throw new Error('no worker')
    admitted(sim, 0, 20)
    await sim.settle()
    limiter.remaining(key, sim.nowMs, out)
    expect([out[remainingIndex.rate], out[remainingIndex.rateReset]]).toEqual([80, 1])
    for (let i = 0; i < 4; i += 1) {
      admitted(sim, 0, 100)
      await sim.settle()
    }
    limiter.remaining(key, sim.nowMs, out)
    expect(out[remainingIndex.rate]).toBe(0)
    expect(limiter.retryMs(key, 'rate_exceeded', sim.nowMs, 1)).toBeGreaterThan(10)
  })

  it('refuses with 503 what it has no lease for while the store is away, and comes back', async () => {
    const sim = three({ rate, quotaPerMonth: 1000 })
    admitted(sim, 0, 1)
    sim.spend(0, 'k', 1)
    await sim.settle()
    cut(sim)
    expect(admitted(sim, 0, 200)).toBe(50)
    expect(resultOf(sim, 0)).toBe(2)
    for (let i = 0; i < 100; i += 1) sim.spend(0, 'k', 1)
    await sim.settle()
    expect(sim.unavailable).toBeGreaterThan(80)
    sim.cuts.clear()
    sim.aware.clear()
    sim.advance(1000)
    expect(admitted(sim, 0, 1)).toBe(0)
    await sim.settle()
    expect(admitted(sim, 0, 10)).toBe(10)
  })

  it('serves by its own limit where the policy says so, from where the store has ended', async () => {
    const sim = three({ rate }, 'serve')
    for (let i = 0; i < 8; i += 1) {
      admitted(sim, 0, 100)
      await sim.settle()
    }
    cut(sim)
    // The bucket was empty: the machine goes on at the rate.
    expect([resultOf(sim, 0), resultOf(sim, 1)]).toEqual([1, 1])
    sim.advance(1000)
    let served = 0
    for (let i = 0; i < 200; i += 1) if (resultOf(sim, i % 2) === 0) served += 1
    expect(served).toBe(50)
  })

  it('serves quota that it knows to be left, and has it charged when the store is back', async () => {
    const sim = three({ quotaPerMonth: 200 }, 'serve')
    sim.spend(0, 'k', 10)
    await sim.settle()
    cut(sim)
    let served = 0
    const [limiter, key] = [sim.workers[0]?.limiter, sim.workers[0]?.keys.get('k')]
    if (limiter === undefined || key === undefined) throw new Error('no worker')
    const ask = async (): Promise<void> => {
      let result = limiter.spendQuota(key, 1, sim.nowMs)
      if (result === 3) {
        await sim.settle()
        result = limiter.spendQuota(key, 1, sim.nowMs)
      }
      if (result === 0) served += 1
      else if (result !== 1) throw new Error(`the result is ${result}`)
    }
    for (let i = 0; i < 400; i += 1) await ask()
    expect(served).toBe(190)
    sim.cuts.clear()
    sim.aware.clear()
    sim.tick(0)
    await sim.settle()
    expect(sim.counters.get('2026-08 k')?.value).toBe(200)
  })

  // No lease comes between: the worker learns nothing new of what is left.
  it.each([
    ['what was left when it asked', 10, 190],
    ['the whole quota where it has not asked', 0, 200],
  ])('serves %s once, however often the store comes and goes', async (_what, first, most) => {
    const sim = three({ quotaPerMonth: 200 }, 'serve')
    if (first > 0) sim.spend(0, 'k', first)
    await sim.settle()
    let served = 0
    for (let flap = 0; flap < 3; flap += 1) {
      cut(sim)
      // What is leased, and asking in vain, is over.
      served += await servedOf(sim, 500)
      for (let node = 0; node < 3; node += 1) sim.mend(node)
      sim.tick(0)
      await sim.settle()
    }
    expect(served).toBe(most)
  })

  it('charges what it served while the store was away in the months in which it did', async () => {
    const sim = three({ quotaPerMonth: 1000 }, 'serve')
    sim.jump(Date.UTC(2026, 7, 31, 23, 59, 50))
    for (let worker = 0; worker < 6; worker += 1) sim.tick(worker)
    const spend = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i += 1) {
        sim.spend(i % 2, 'k', 1)
        await sim.settle()
      }
    }
    await spend(10)
    cut(sim)
    await spend(100)
    sim.advance(20_000)
    for (const worker of [0, 1]) sim.tick(worker)
    await spend(50)
    for (let node = 0; node < 3; node += 1) sim.mend(node)
    for (const worker of [0, 1]) sim.tick(worker)
    await sim.settle()
    for (let worker = 0; worker < 6; worker += 1) await sim.drain(worker)
    const months = ['2026-08 k', '2026-09 k']
    expect(months.map((name) => sim.spent.get(name))).toEqual([110, 50])
    expect(months.map((name) => sim.counters.get(name)?.value)).toEqual([110, 50])
  })

  it('serves a whole quota of the next month, whatever it owes of the last one', async () => {
    const sim = three({ quotaPerMonth: 100 }, 'serve')
    sim.jump(Date.UTC(2026, 7, 31, 23, 59, 50))
    sim.tick(0)
    cut(sim)
    expect(await servedOf(sim, 150)).toBe(100)
    sim.advance(20_000)
    sim.tick(0)
    expect(await servedOf(sim, 150)).toBe(100)
  })

  it('serves nothing uncounted for want of room to wait while the store is there', async () => {
    const sim = three({ quotaPerMonth: 1_000_000 }, 'serve')
    const [limiter, key] = [sim.workers[0]?.limiter, sim.workers[0]?.keys.get('k')]
    if (limiter === undefined || key === undefined) throw new Error('no worker')
    let pending = 0
    for (let i = 0; i < quotaWaitingMax; i += 1) {
      if (limiter.spendQuota(key, 1, sim.nowMs) === quotaResults.pending) pending += 1
      limiter.whenLeased(key, () => undefined)
    }
    expect(pending).toBe(quotaWaitingMax)
    expect(limiter.spendQuota(key, 1, sim.nowMs)).toBe(quotaResults.unavailable)
    expect(key.debt.units).toBe(0)
    await sim.settle()
    expect(limiter.spendQuota(key, 1, sim.nowMs)).toBe(quotaResults.granted)
  })

  it('knows that a rate is to be had again, though no request comes', async () => {
    const sim = three({ rate })
    const said: string[] = []
    sim.hooks.onTrouble = (error) => void said.push(String(error))
    sim.hooks.onRecovery = () => void said.push('recovery')
    sim.failing = true
    resultOf(sim, 0)
    await sim.settle()
    expect(said).toHaveLength(1)
    sim.failing = false
    for (let look = 0; look < 5; look += 1) {
      sim.advance(200)
      sim.tick(0)
      await sim.settle()
    }
    expect(said).toEqual([said[0], 'recovery'])
  })
})
