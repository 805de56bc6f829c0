// The limiter of many machines against its promises, on simulated nodes: any order of requests,
// crashes, restarts, reboots, jumps of the clock, changes of plans, revocations and partitions.
// IPRISK_NODES_RUNS asks for more runs, IPRISK_NODES_SEED for other ones.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flowSizes } from '../../src/account/flow.ts'
import { remainingAt, remainingLength } from '../../src/account/header.ts'
import type { Limits } from '../../src/account/limit.ts'
import { type AdmitResult, admitResults } from '../../src/account/limiter.ts'
import { spendResults } from '../../src/account/quota.ts'
import { quotaWaitingMax } from '../../src/base/limits.ts'
import type { Rate } from '../../src/config/plan.ts'
import { type Cut, NodesSimulator } from './nodes.ts'
import { batchUnitsMax, turn } from './simulator.ts'

const runs = Number(process.env['IPRISK_NODES_RUNS'] ?? 2000)
const seed = Number(process.env['IPRISK_NODES_SEED'] ?? 2026)
const shape = { nodes: 3, workers: 2, wallMs: Date.UTC(2026, 7, 31, 23, 59, 57) }
const workers = shape.nodes * shape.workers

const keyIds = ['small', 'large', 'free'] as const
const plans: readonly Limits[] = [
  { rate: { perSecond: 50, burst: 100 }, quotaPerMonth: 100 },
  { rate: { perSecond: 7, burst: 1 }, quotaPerMonth: 1000 },
  { rate: { perSecond: 5000, burst: 20 }, quotaPerMonth: 20_000 },
  { quotaPerMonth: 3 },
  {},
]
const firstLimits = new Map<string, Limits>([
  ['small', plans[0] ?? {}],
  ['large', plans[2] ?? {}],
  ['free', {}],
])
const instants: readonly number[] = [
  Date.UTC(2026, 7, 31, 22, 59, 57),
  Date.UTC(2026, 7, 31, 23, 59, 59, 900),
  Date.UTC(2026, 8, 1, 0, 10),
  Date.UTC(2038, 0, 19, 3, 14, 8),
  Date.UTC(2026, 6, 15),
]
const pick = <T>(from: readonly T[], at: number): T => from[at % from.length] as T

const cuts: readonly Cut[] = ['before', 'after', 'late']

/** What can happen; `a`, `b` and `c` say to whom and how much. */
const happenings = {
  spend: (sim, a, b, c) => sim.spend(a, pick(keyIds, b), 1 + (c % 3)),
  spendMany: (sim, a, b, c) => {
    for (let i = 0; i < c; i += 1) sim.spend(a, pick(keyIds, b), 1)
  },
  batch: (sim, a, b, c) => sim.spend(a, pick(keyIds, b), Math.min(1 + c * 3, batchUnitsMax)),
  refused: (sim, a, b, c) => sim.spend(a, pick(keyIds, b), 1 + (c % 5), true),
  refund: (sim) => sim.refund(),
  admit: (sim, a, b, c) => sim.admit(a, pick(keyIds, b), 1 + (c % 4)),
  admitBatch: (sim, a, b, c) => sim.admit(a, pick(keyIds, b), 1 + c * 2),
  admitMany: (sim, a, b, c) => {
    for (let i = 0; i < c * 5; i += 1) sim.admit((a + i) % workers, pick(keyIds, b), 1)
  },
  deliver: (sim, a) => sim.deliver(1 + a),
  advance: (sim, _a, b, c) => sim.advance(b * 7 + c),
  advanceFar: (sim, _a, b, c) => sim.advance(b * 370 + c),
  tick: (sim, a) => sim.tick(a),
  crash: (sim, a, b) => sim.crash(a, (b % 3) / 2),
  reboot: (sim, a, b) => sim.reboot(a % shape.nodes, (b % 3) / 2),
  restart: (sim, a) => sim.start(a),
  drain: (sim, a) => sim.drain(a),
  jump: (sim, a, b) => sim.jump(pick(instants, a + b)),
  plan: (sim, _a, b, c) => sim.setLimits(pick(keyIds, b), pick(plans, c)),
  revoke: (sim, _a, b) => void sim.limits.delete(pick(keyIds, b)),
  refresh: (sim, a) => sim.bindAll(a),
  partition: (sim, a, b) => void sim.cuts.set(a % shape.nodes, pick(cuts, b)),
  notice: (sim, a) => void (sim.cuts.has(sim.nodeOf(a)) && sim.aware.add(a)),
  mend: (sim, a) => sim.mend(a % shape.nodes),
  fail: (sim, a) => void (sim.failing = a === 0),
} as const satisfies Record<
  string,
  (sim: NodesSimulator, a: number, b: number, c: number) => void | Promise<void>
>
type Happening = keyof typeof happenings
type Step = readonly [Happening, number, number, number]

let steps = 0

async function happen(sim: NodesSimulator, [name, a, b, c]: Step): Promise<void> {
  await happenings[name](sim, a, b, c)
  // Promises run on between the steps, in most cases.
  if (c % 4 !== 0) await turn()
  sim.check()
  steps += 1
}

/** The end of every history: nobody is left, and what is taken is spent or was lost by a crash. */
async function end(sim: NodesSimulator): Promise<void> {
  sim.failing = false
  for (let node = 0; node < shape.nodes; node += 1) sim.mend(node)
  for (let index = 0; index < sim.workers.length; index += 1) await sim.drain(index)
  sim.check()
  sim.checkDrained()
}

const newSimulator = (): NodesSimulator => new NodesSimulator({ ...shape, limits: firstLimits })

class Command implements fc.AsyncCommand<object, NodesSimulator> {
  readonly step: Step
  constructor(step: Step) {
    this.step = step
  }
  check(): boolean {
    return true
  }
  run(_model: object, sim: NodesSimulator): Promise<void> {
    return happen(sim, this.step)
  }
  toString(): string {
    return JSON.stringify(this.step)
  }
}

const frequent: readonly Happening[] = ['spend', 'admit', 'admitMany', 'deliver', 'advance', 'tick']
const names = [...frequent, ...frequent, ...(Object.keys(happenings) as Happening[])]
const command = fc
  .tuple(
    fc.constantFrom(...names),
    fc.nat({ max: workers - 1 }),
    fc.nat({ max: 20 }),
    fc.nat({ max: 40 }),
  )
  .map((step) => new Command(step))

/** What has failed once, as small as it could be made; each is run again in every test. */
const failures: readonly (readonly [string, readonly Step[]])[] = [
  [
    'a limit that changed while the store was asked took from the new bucket for the old balance',
    [
      ['admitMany', 0, 0, 8],
      ['plan', 0, 0, 6],
      ['refresh', 0, 0, 0],
      ['spend', 0, 0, 0],
      ['deliver', 5, 0, 1],
      ['deliver', 5, 0, 1],
    ],
  ],
  [
    'an answer that came after another worker had asked was booked above the lease',
    [
      ['admit', 0, 10, 0],
      ['deliver', 0, 0, 0],
      ['admitMany', 4, 4, 1],
      ['advanceFar', 0, 6, 0],
      ['tick', 2, 0, 0],
      ['deliver', 0, 0, 0],
      ['advanceFar', 0, 6, 0],
      ['tick', 2, 0, 0],
      ['deliver', 0, 0, 0],
      ['advance', 0, 0, 1],
      ['spend', 0, 0, 0],
    ],
  ],
  [
    'what was asked for and failed is not granted',
    [
      ['admitMany', 0, 0, 1],
      ['partition', 0, 0, 0],
      ['deliver', 0, 0, 1],
    ],
  ],
]

describe('the limiter of many machines', () => {
  it('keeps its promises in any history', { timeout: 600_000 }, async () => {
    const histories = fc.commands([command], { maxCommands: 300, size: 'max' })
    const property = fc.asyncProperty(histories, async (history) => {
      const sim = newSimulator()
      await fc.asyncModelRun(() => ({ model: {}, real: sim }), history)
      await end(sim)
    })
    await fc.assert(property, { numRuns: runs, seed })
    process.stdout.write(`${steps} steps of the model\n`)
    expect(steps).toBeGreaterThan(Math.min(100_000, runs * 80))
  })

  it.each(failures)('keeps them where they were broken once: %s', async (_what, history) => {
    const sim = newSimulator()
    for (const step of history) await happen(sim, step)
    await expect(end(sim)).resolves.toBeUndefined()
  })
})

/** Demand that lasts, on some nodes, with a store that answers after a while. */
async function demand(options: {
  readonly rate: Rate
  readonly nodes: number
  readonly workers: number
  /** Of the whole rate, what each node asks for. */
  readonly shares: readonly number[]
  readonly answerMs: number
  readonly seconds: number
}): Promise<{ readonly sim: NodesSimulator; readonly granted: number; readonly asked: number }> {
  const { rate, nodes, workers: perNode, shares, answerMs, seconds } = options
  const limits = new Map([['k', { rate }]])
  const sim = new NodesSimulator({ nodes, workers: perNode, wallMs: shape.wallMs, limits })
  let turns = 0
  let asked = 0
  // Apart from each other: at one instant they would be a burst.
  const due = shares.map((_, node) => node / shares.length)
  for (let ms = 0; ms < seconds * 1000; ms += 1) {
    sim.advance(1)
    for (const [node, share] of shares.entries()) {
      due[node] = (due[node] ?? 0) + (rate.perSecond * share) / 1000
      for (; (due[node] ?? 0) >= 1; due[node] = (due[node] ?? 0) - 1) {
        sim.admit(node * perNode + (turns % perNode), 'k', 1)
        turns += 1
        asked += 1
      }
    }
    if (ms % answerMs === 0) {
      sim.deliver(1000)
      await turn()
    }
    if (ms % 200 === 0) for (let index = 0; index < nodes * perNode; index += 1) sim.tick(index)
  }
  return { sim, granted: sim.granting, asked }
}

const rates: readonly Rate[] = [
  { perSecond: 50, burst: 100 },
  { perSecond: 5000, burst: 10_000 },
  { perSecond: 1000, burst: 10 },
  { perSecond: 10, burst: 1 },
  { perSecond: 2, burst: 1000 },
]

describe('a rate on many machines under steady demand', () => {
  it.each(
    rates.flatMap((rate) =>
      [
        { name: 'one node that asks for half as much again', nodes: 1, shares: [1.5] },
        { name: 'three that ask for twice the rate', nodes: 3, shares: [0.7, 0.7, 0.6] },
        { name: 'three of which one asks', nodes: 3, shares: [0, 1.3, 0] },
        { name: 'eight, unlike', nodes: 8, shares: [1, 0.5, 0.2, 0.1, 0.1, 0.05, 0.05, 0.1] },
        { name: 'three that ask for less', nodes: 3, shares: [0.3, 0.3, 0.3] },
      ].map((some) => ({ ...some, rate, ...rate })),
    ),
  )(
    'grants at least 95 % at $perSecond/s, burst $burst: $name',
    async ({ rate, nodes, shares }) => {
      const seconds = Math.max(12, Math.min(60, (4 * rate.burst) / rate.perSecond))
      const ran = await demand({ rate, nodes, shares, workers: 2, answerMs: 3, seconds })
      const most = rate.burst + rate.perSecond * seconds
      expect(ran.granted).toBeGreaterThanOrEqual(
        0.95 * Math.min(ran.asked, rate.perSecond * seconds),
      )
      expect(ran.granted).toBeLessThanOrEqual(most + nodes * flowSizes(rate).lease)
    },
  )

  it('asks the store a few times a second, not for each request', async () => {
    const rate = { perSecond: 5000, burst: 10_000 }
    const shares = [0.3, 0.3, 0.3]
    const ran = await demand({ rate, nodes: 3, shares, workers: 2, answerMs: 3, seconds: 10 })
    expect(ran.granted).toBe(ran.asked)
    expect(ran.sim.asking / 10).toBeLessThan(20)
  })

  it('reaches its bound where every node has filled its lease before a burst, and not more', async () => {
    const rate = { perSecond: 50, burst: 100 }
    const ran = await demand({
      rate,
      nodes: 3,
      shares: [0.1, 0.1, 0.1],
      workers: 1,
      answerMs: 2,
      seconds: 5,
    })
    const { sim } = ran
    sim.advance(2500)
    const before = sim.granting
    for (let round = 0; round < 30; round += 1) {
      for (let i = 0; i < 100; i += 1) sim.admit(i % 3, 'k', 1)
      await sim.settle()
    }
    const most = rate.burst + 3 * flowSizes(rate).lease
    expect(sim.granting - before).toBeGreaterThan(0.8 * most)
    expect(sim.granting - before).toBeLessThanOrEqual(most)
  })
})

describe('a machine among many', () => {
  const rate = { perSecond: 50, burst: 100 }
  const three = (limits: Limits, policy: 'serve' | 'refuse' = 'refuse'): NodesSimulator => {
    const map = new Map([['k', limits]])
    return new NodesSimulator({
      nodes: 3,
      workers: 2,
      wallMs: shape.wallMs - 1e9,
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
    return key === undefined ? undefined : held?.limiter.admit(key, requests, sim.nowMs)
  }
  /** Of a batch, which may have to ask the store. */
  const batchOf = async (sim: NodesSimulator, worker: number, requests: number) => {
    const [held, key] = [sim.workers[worker], sim.workers[worker]?.keys.get('k')]
    if (held === undefined || key === undefined) throw new Error('no worker')
    const result = held.limiter.admit(key, requests, sim.nowMs)
    if (result !== admitResults.pending) return result
    return new Promise<AdmitResult>((resolve) => {
      held.limiter.admitLater(key, requests, sim.nowMs, resolve)
      void sim.settle()
    })
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
    expect(await batchOf(sim, 0, 101)).toBe(admitResults.exceeded)
    expect(await batchOf(sim, 0, 100)).toBe(admitResults.granted)
    expect(await batchOf(sim, 2, 100)).toBe(admitResults.exceeded)
    sim.advance(2000)
    // Its own request before it has been granted from what the node then asks for.
    for (const worker of [0, 2, 4]) {
      sim.admit(worker, 'k', 1)
      expect(await batchOf(sim, worker, 99)).toBe(admitResults.granted)
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
    expect(await batchOf(refusing, 0, 99)).toBe(admitResults.unavailable)
    expect(await batchOf(serving, 0, 60)).toBe(admitResults.granted)
    expect(await batchOf(serving, 0, 60)).toBe(admitResults.exceeded)
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
    expect(sim.granting - before).toBeLessThanOrEqual(rate.burst + 3 * flowSizes(rate).lease)
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
    expect([out[remainingAt.rate], out[remainingAt.rateReset]]).toEqual([80, 1])
    for (let i = 0; i < 4; i += 1) {
      admitted(sim, 0, 100)
      await sim.settle()
    }
    limiter.remaining(key, sim.nowMs, out)
    expect(out[remainingAt.rate]).toBe(0)
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
      let result = limiter.spend(key, 1, sim.nowMs)
      if (result === 3) {
        await sim.settle()
        result = limiter.spend(key, 1, sim.nowMs)
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

  it('serves nothing uncounted for want of room to wait while the store is there', async () => {
    const sim = three({ quotaPerMonth: 1_000_000 }, 'serve')
    const [limiter, key] = [sim.workers[0]?.limiter, sim.workers[0]?.keys.get('k')]
    if (limiter === undefined || key === undefined) throw new Error('no worker')
    for (let i = 0; i < quotaWaitingMax; i += 1) {
      expect(limiter.spend(key, 1, sim.nowMs)).toBe(spendResults.pending)
      limiter.whenLeased(key, () => undefined)
    }
    expect(limiter.spend(key, 1, sim.nowMs)).toBe(spendResults.unavailable)
    expect(key.owed).toBe(0)
    await sim.settle()
    expect(limiter.spend(key, 1, sim.nowMs)).toBe(spendResults.granted)
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
