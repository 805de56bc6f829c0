// Single promises of the quotas, each in the smallest history that shows it. All of them at once,
// in any history, are limiter.test.ts.

import { describe, expect, it } from 'vitest'
import { leaseIdleMs, leaseShare, leaseUnitsMin } from '../../../src/base/limits.ts'
import { quotaRecheckMs, quotaWaitMs } from '../../../src/base/limits.ts'
import type { Allowance } from '../../../src/account/limits/allowance.ts'
import { remainingIndex, remainingLength } from '../../../src/account/limits/ratelimit-values.ts'
import type { EffectiveLimits } from '../../../src/account/keys/key-limits.ts'
import { Simulator, turn } from './limiter-simulator.ts'

const august = Date.UTC(2026, 7, 10)
const rate = { perSecond: 50, burst: 100 }
const july = Date.UTC(2026, 6, 10)

function machine(limits: EffectiveLimits, workers = 1, wallMs = august): Simulator {
  return new Simulator({ workers, wallMs, limits: new Map([['k', limits]]) })
}

/** Asks that often, one unit each, and lets everything happen that needs no time. */
async function spend(sim: Simulator, index: number, times: number): Promise<number> {
  const before = sim.granted
  for (let i = 0; i < times; i += 1) sim.spend(index, 'k', 1)
  await sim.settle()
  sim.check()
  return sim.granted - before
}

const takenOf = (sim: Simulator, month = '2026-08'): number =>
  sim.counters.get(`${month} k`)?.value ?? 0

describe('a quota', () => {
  it('is spent to the last unit and not further, and the ledger is not asked for each refusal', async () => {
    const sim = machine({ quotaPerMonth: 1000 })
    expect(await spend(sim, 0, 1500)).toBe(1000)
    expect(sim.denied).toBe(500)
    const { version } = sim.counters.get('2026-08 k') ?? {}
    expect(await spend(sim, 0, 1500)).toBe(0)
    expect(sim.counters.get('2026-08 k')?.version).toBe(version)
  })

  it('goes back when its worker is killed: another one gives back what was not spent', async () => {
    const sim = machine({ quotaPerMonth: 1000 }, 2)
    expect(await spend(sim, 0, 5)).toBe(5)
    expect(takenOf(sim)).toBeGreaterThan(5)
    await sim.crash(0, 0)
    sim.takeOver(1)
    await sim.settle()
    expect(takenOf(sim)).toBe(5)
    // And only once.
    sim.takeOver(1)
    await sim.settle()
    expect(takenOf(sim)).toBe(5)
  })

  it('is fetched ahead: no request waits while the ledger answers', async () => {
    const sim = machine({ quotaPerMonth: 1_000_000 })
    await spend(sim, 0, 1)
    sim.advance(10_000)
    // 100 a second, a tick every 200 ms, the ledger late by one of them.
    for (let i = 0; i < 500; i += 1) {
      const before = sim.granted
      for (let n = 0; n < 20; n += 1) sim.spend(0, 'k', 1)
      expect(sim.granted - before).toBeGreaterThanOrEqual(i > 20 ? 20 : 0)
      sim.advance(200)
      sim.tick(0)
      await sim.settle()
    }
    const lease = sim.workers[0]?.keys.get('k')?.lease.size ?? 0
    expect(lease).toBeGreaterThanOrEqual(80)
    expect(lease).toBeLessThanOrEqual(200)
  })

  it('is leased for a second at the pace of the last lease, at most eight times as much', async () => {
    const sim = machine({ quotaPerMonth: 1_000_000 })
    const sizeAfter = async (times: number): Promise<number | undefined> => {
      await spend(sim, 0, times)
      return sim.workers[0]?.keys.get('k')?.lease.size
    }
    expect(await sizeAfter(leaseUnitsMin / 2)).toBe(leaseUnitsMin)
    expect(await sizeAfter(1)).toBe(8 * leaseUnitsMin)
    sim.advance(1000)
    // More than half of it is spent in that second.
    const pace = 4 * leaseUnitsMin + 1
    expect(await sizeAfter(pace)).toBe(pace)
  })

  it('begins again with the month, by UTC, at the first request that arrives in it', async () => {
    const sim = machine({ quotaPerMonth: 10 }, 1, Date.UTC(2026, 7, 31, 23, 59, 59, 999))
    expect(await spend(sim, 0, 20)).toBe(10)
    sim.advance(1)
    expect(await spend(sim, 0, 20)).toBe(10)
    expect([takenOf(sim), takenOf(sim, '2026-09')]).toEqual([10, 10])
  })

  it('spends no unit of a month at the instant at which the next one begins', async () => {
    const sim = machine({ quotaPerMonth: 1000 }, 1, Date.UTC(2026, 7, 31, 23, 59, 59, 999))
    expect(await spend(sim, 0, 5)).toBe(5)
    sim.advance(1)
    expect(await spend(sim, 0, 5)).toBe(5)
    expect([sim.spent.get('2026-08 k'), sim.spent.get('2026-09 k')]).toEqual([5, 5])
  })

  it.each([
    ['back an hour', august - 3_600_000, '2026-08'],
    ['back a month', july, '2026-07'],
    ['to 2038', Date.UTC(2038, 0, 19, 3, 14, 8), '2038-01'],
  ])('survives a clock that jumps %s and returns', async (_name, to, month) => {
    const sim = machine({ quotaPerMonth: 10 })
    expect(await spend(sim, 0, 6)).toBe(6)
    for (let round = 0; round < 3; round += 1) {
      sim.jump(to)
      sim.tick(0)
      await spend(sim, 0, 20)
      sim.jump(august)
      sim.tick(0)
      await spend(sim, 0, 20)
    }
    expect(sim.spent.get(`${month} k`)).toBe(10)
    expect(sim.spent.get('2026-08 k')).toBe(10)
    // Nobody is locked out: the month after it is a month like any other.
    sim.jump(Date.UTC(2026, 8, 1))
    sim.tick(0)
    expect(await spend(sim, 0, 20)).toBe(10)
  })

  it('is all or nothing for a batch, and a batch that is too large leaves the rest to others', async () => {
    const sim = machine({ quotaPerMonth: 100 })
    await spend(sim, 0, 40)
    sim.spend(0, 'k', 61)
    await sim.settle()
    expect([sim.granted, sim.denied]).toEqual([40, 1])
    expect(await spend(sim, 0, 10)).toBe(10)
    sim.spend(0, 'k', 50)
    await sim.settle()
    expect(sim.spent.get('2026-08 k')).toBe(100)
  })

  it('costs a crash at most one lease, and a drain nothing', async () => {
    const sim = machine({ quotaPerMonth: 1000 }, 2)
    await spend(sim, 0, 1)
    await spend(sim, 1, 1)
    expect(takenOf(sim)).toBe(2 * leaseUnitsMin)
    await sim.drain(1)
    expect(takenOf(sim)).toBe(leaseUnitsMin + 1)
    await sim.crash(0, 1)
    sim.start(0)
    expect(await spend(sim, 0, 2000)).toBe(1000 - leaseUnitsMin - 1)
  })

  it('gives idle units back, sooner where somebody is refused', async () => {
    const sim = machine({ quotaPerMonth: 1000 }, 2)
    await spend(sim, 0, 1)
    sim.tick(0)
    sim.advance(leaseIdleMs - 1)
    sim.tick(0)
    await sim.settle()
    expect(takenOf(sim)).toBe(leaseUnitsMin)
    sim.advance(1)
    sim.tick(0)
    await sim.settle()
    expect(takenOf(sim)).toBe(1)
  })

  it('is said to have left what idle units were given back to it', async () => {
    const sim = machine({ quotaPerMonth: 100 })
    const [worker, out] = [sim.workers[0], new Float64Array(remainingLength)]
    const leftOf = (): number => {
      worker?.limiter.remaining(worker.keys.get('k') as Allowance, sim.nowMs, out)
      return out[remainingIndex.quota] ?? -1
    }
    // A request that no lease can serve asks the ledger for none, and takes nothing.
    sim.spend(0, 'k', 101)
    expect([takenOf(sim), leftOf()]).toEqual([0, 100])
    await spend(sim, 0, 1)
    expect(leftOf()).toBe(99)
    for (let look = 0; look < 2; look += 1) {
      sim.tick(0)
      sim.advance(leaseIdleMs)
    }
    sim.tick(0)
    await sim.settle()
    expect([takenOf(sim), leftOf()]).toEqual([1, 99])
    sim.jump(Date.UTC(2026, 8, 1))
    sim.tick(0)
    await spend(sim, 0, 3)
    expect(leftOf()).toBe(97)
  })

  it('holds what was leased before its end from others for as long as idle units are kept', async () => {
    const sim = machine({ quotaPerMonth: 1000 }, 2)
    expect(await spend(sim, 0, 1)).toBe(1)
    const held = leaseUnitsMin - 1
    expect(await spend(sim, 1, 1200)).toBe(999 - held)
    const second = async (): Promise<number> => {
      sim.advance(quotaRecheckMs)
      for (const index of [0, 1]) sim.tick(index)
      await sim.settle()
      return spend(sim, 1, 20)
    }
    // It keeps them since it was seen to be idle, a second after they came.
    for (let ms = quotaRecheckMs; ms < leaseIdleMs; ms += quotaRecheckMs) {
      expect(await second()).toBe(0)
    }
    expect((await second()) + (await second())).toBe(held)
  })

  it('gives the last units of a month to whoever still asks', async () => {
    const sim = machine({ quotaPerMonth: 20 }, 2)
    const second = async (): Promise<void> => {
      sim.advance(quotaRecheckMs)
      for (const index of [0, 1]) sim.tick(index)
      await sim.settle()
    }
    expect(await spend(sim, 0, 1)).toBe(1)
    const held = sim.workers[0]?.keys.get('k')?.lease.units ?? 0
    expect(held).toBeGreaterThan(0)
    expect(await spend(sim, 1, 30)).toBe(19 - held)
    for (let waited = 0; waited <= leaseIdleMs; waited += quotaRecheckMs) await second()
    sim.spend(1, 'k', held, true)
    await sim.settle()
    expect([sim.granted, takenOf(sim)]).toEqual([21 - held, 20])
    // Who has seen the end of it keeps idle units for a second or two, not for ten.
    sim.refund()
    for (let look = 0; look < 3; look += 1) await second()
    expect(takenOf(sim)).toBe(20 - held)
    expect(await spend(sim, 0, 30)).toBe(held)
  })

  it('keeps the last units from nobody: a worker has no more of them than it was asked for', async () => {
    for (let quotaPerMonth = 2; quotaPerMonth <= leaseShare; quotaPerMonth += 1) {
      const sim = machine({ quotaPerMonth }, 2)
      expect(await spend(sim, 0, 1)).toBe(1)
      expect(await spend(sim, 1, 20)).toBe(quotaPerMonth - 1)
    }
    // Above it a lease is more than one unit, and what is idle of it is back in a second or two.
    const sim = machine({ quotaPerMonth: 100 }, 2)
    expect(await spend(sim, 0, 1)).toBe(1)
    const others = await spend(sim, 1, 100)
    for (let look = 0; look < 2; look += 1) {
      sim.tick(0)
      sim.advance(quotaRecheckMs)
    }
    sim.tick(0)
    await sim.settle()
    expect(others + (await spend(sim, 1, 100))).toBe(99)
  })

  it('follows a plan that changes: up at once, down without what is leased', async () => {
    const sim = machine({ quotaPerMonth: 10 })
    expect(await spend(sim, 0, 20)).toBe(10)
    sim.setLimits('k', { quotaPerMonth: 30 })
    sim.bindAll(0)
    expect(await spend(sim, 0, 15)).toBe(15)
    sim.setLimits('k', { quotaPerMonth: 20 })
    sim.bindAll(0)
    expect(await spend(sim, 0, 20)).toBe(0)
    expect(takenOf(sim)).toBe(25)
    sim.setLimits('k', {})
    sim.bindAll(0)
    sim.spend(0, 'k', 1000)
    expect(sim.denied).toBe(20 + 10)
  })

  it('gives back what a revoked key has leased', async () => {
    const sim = machine({ quotaPerMonth: 1000 })
    await spend(sim, 0, 1)
    sim.limits.delete('k')
    sim.bindAll(0)
    await sim.settle()
    expect(takenOf(sim)).toBe(1)
  })

  it('is refunded for what was no 200', async () => {
    const sim = machine({ quotaPerMonth: 10 })
    await spend(sim, 0, 1)
    for (let i = 0; i < 50; i += 1) {
      sim.spend(0, 'k', 3, true)
      await sim.settle()
      sim.refund()
    }
    expect(sim.denied).toBe(0)
    expect(await spend(sim, 0, 20)).toBe(9)
  })

  it.each([
    ['an unlimited key that gets one', { rate }, { rate, quotaPerMonth: 10 }, 9],
    ['a quota that becomes smaller', { quotaPerMonth: 1000 }, { quotaPerMonth: 10 }, 10],
    ['a quota that becomes larger', { quotaPerMonth: 1000 }, { quotaPerMonth: 2000 }, 2000],
  ])('grants no more than it is where requests fail after its change: %s', async (...some) => {
    const [, before, after, granted] = some
    const sim = machine(before)
    for (let i = 0; i < 100; i += 1) sim.spend(0, 'k', 1, true)
    await sim.settle()
    sim.setLimits('k', after)
    sim.advance(1)
    sim.bindAll(0)
    if (granted === 9) sim.spend(0, 'k', 1)
    await sim.settle()
    sim.granted = 0
    sim.refund()
    sim.check()
    await sim.settle()
    sim.advance(quotaRecheckMs)
    expect(await spend(sim, 0, 3000)).toBe(granted)
    expect(takenOf(sim)).toBe(after.quotaPerMonth)
  })

  it('is refunded in the month that was charged, also where it is not that of the arrival', async () => {
    const sim = machine({ quotaPerMonth: 100 }, 1, Date.UTC(2026, 7, 31, 23, 59, 59, 999))
    sim.spend(0, 'k', 100, true)
    sim.advance(1)
    sim.tick(0)
    await sim.settle()
    expect([takenOf(sim), takenOf(sim, '2026-09')]).toEqual([0, 100])
    sim.refund()
    expect(await spend(sim, 0, 200)).toBe(100)
    // And where the month has ended since.
    sim.jump(Date.UTC(2026, 9, 31, 23, 59))
    sim.tick(0)
    sim.spend(0, 'k', 100, true)
    await sim.settle()
    sim.advance(60_000)
    sim.tick(0)
    sim.refund()
    await sim.settle()
    expect(takenOf(sim, '2026-10')).toBe(0)
  })
})

describe('a ledger that fails', () => {
  it('is out of reach for the requests that need it, is asked once a second, and comes back', async () => {
    const sim = machine({ quotaPerMonth: 1_000_000 })
    await spend(sim, 0, 10)
    sim.failing = true
    // What is leased is spent, the rest is refused with 503.
    expect(await spend(sim, 0, 100)).toBeLessThanOrEqual(128)
    expect(await spend(sim, 0, 1000)).toBeLessThanOrEqual(128)
    expect(sim.unavailable).toBeGreaterThan(800)
    expect(sim.denied).toBe(0)
    sim.failing = false
    expect(await spend(sim, 0, 10)).toBe(0)
    sim.advance(quotaRecheckMs)
    expect(await spend(sim, 0, 10)).toBe(10)
  })

  it('is fetched ahead from again when it is back', async () => {
    const sim = machine({ quotaPerMonth: 1_000_000 })
    await spend(sim, 0, 1)
    sim.failing = true
    await spend(sim, 0, 8)
    const key = sim.workers[0]?.keys.get('k')
    expect(key?.lease.refetchBelow).toBe(-1)
    sim.failing = false
    sim.advance(quotaRecheckMs)
    sim.tick(0)
    sim.spend(0, 'k', 1)
    await sim.settle()
    expect(key?.lease.units).toBeGreaterThanOrEqual(leaseUnitsMin)
    expect(sim.unavailable).toBe(0)
  })

  it('lets nobody wait when it does not answer at all', async () => {
    const sim = machine({ quotaPerMonth: 1_000_000 })
    sim.spend(0, 'k', 1)
    await turn()
    for (let waitedMs = 0; waitedMs < quotaWaitMs; waitedMs += 200) {
      expect(sim.unavailable).toBe(0)
      sim.advance(200)
      sim.tick(0)
    }
    expect(sim.unavailable).toBe(1)
    sim.spend(0, 'k', 1)
    expect(sim.unavailable).toBe(2)
    // What comes late is taken all the same, and nothing is lost.
    await sim.settle()
    expect(await spend(sim, 0, 5)).toBe(5)
  })
})
