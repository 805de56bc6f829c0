// The limiter of many machines against its promises, on simulated nodes: any order of requests,
// crashes, restarts, reboots, jumps of the clock, changes of plans, revocations and partitions.
// IPRISK_NODES_RUNS asks for more runs, IPRISK_NODES_SEED for other ones.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sharedBucketSizes } from '../../../../src/account/limits/shared-bucket.ts'
import type { EffectiveLimits } from '../../../../src/account/keys/key-limits.ts'
import type { Rate } from '../../../../src/config/plan.ts'
import { type Cut, NodesSimulator } from './many-machines.ts'
import { batchUnitsMax, turn } from '../limiter-simulator.ts'
import { inForm } from '../../../form.ts'

const runs = Number(process.env['IPRISK_NODES_RUNS'] ?? inForm({ short: 30, full: 300 }))
const seed = Number(process.env['IPRISK_NODES_SEED'] ?? 2026)
const shape = { nodes: 3, workers: 2, wallMs: Date.UTC(2026, 7, 31, 23, 59, 57) }
const workers = shape.nodes * shape.workers

const keyIds = ['small', 'large', 'free'] as const
const plans: readonly EffectiveLimits[] = [
  { rate: { perSecond: 50, burst: 100 }, quotaPerMonth: 100 },
  { rate: { perSecond: 7, burst: 1 }, quotaPerMonth: 1000 },
  { rate: { perSecond: 5000, burst: 20 }, quotaPerMonth: 20_000 },
  { quotaPerMonth: 3 },
  {},
  { rate: { perSecond: 50, burst: 100 } },
]
const firstLimits = new Map<string, EffectiveLimits>([
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

type Policy = NodesSimulator['policy']
const newSimulator = (policy: Policy = 'refuse'): NodesSimulator =>
  new NodesSimulator({ ...shape, limits: firstLimits, policy })

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
      ['plan', 0, 0, 1],
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

/** The same, with the policy "serve". */
const servedFailures: typeof failures = [
  [
    'what was owed by one month was refunded to another',
    [
      ['jump', 0, 17, 0],
      ['fail', 0, 0, 0],
      ['refused', 0, 0, 0],
      ['drain', 1, 0, 0],
      ['jump', 0, 0, 0],
      ['refund', 0, 0, 0],
      ['spend', 0, 0, 0],
    ],
  ],
  [
    'what was owed by one month was given back to another',
    [
      ['fail', 0, 0, 0],
      ['refused', 3, 10, 0],
      ['deliver', 0, 0, 0],
      ['jump', 0, 2, 0],
      ['plan', 0, 4, 0],
      ['refund', 0, 0, 0],
      ['refresh', 3, 0, 0],
      ['spend', 0, 0, 0],
    ],
  ],
  [
    'a unit refunded, whose charge was lost, has a lease refused that comes back with it',
    [
      ['refused', 2, 0, 0],
      ['advanceFar', 0, 3, 0],
      ['tick', 2, 0, 0],
      ['partition', 4, 0, 0],
      ['deliver', 1, 0, 0],
      ['advanceFar', 0, 3, 0],
      ['tick', 2, 0, 0],
      ['refund', 0, 0, 0],
      ['spend', 0, 0, 0],
    ],
  ],
]

describe('the limiter of many machines', () => {
  it.each(['refuse', 'serve'] as const)(
    'keeps its promises in any history: %s',
    { timeout: 600_000 },
    async (policy) => {
      steps = 0
      const histories = fc.commands([command], { maxCommands: 300, size: 'max' })
      const property = fc.asyncProperty(histories, async (history) => {
        const sim = newSimulator(policy)
        await fc.asyncModelRun(() => ({ model: {}, real: sim }), history)
        await end(sim)
      })
      await fc.assert(property, { numRuns: runs, seed })
      process.stdout.write(`${steps} steps of the model\n`)
      expect(steps).toBeGreaterThan(Math.min(100_000, runs * 140))
    },
  )

  it.each([
    ...failures.map(([what, history]) => ['refuse', what, history] as const),
    ...servedFailures.map(([what, history]) => ['serve', what, history] as const),
  ])('keeps them where they were broken once, %s: %s', async (policy, _what, history) => {
    const sim = newSimulator(policy)
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
      expect(ran.granted).toBeLessThanOrEqual(most + nodes * sharedBucketSizes(rate).lease)
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
    const most = rate.burst + 3 * sharedBucketSizes(rate).lease
    expect(sim.granting - before).toBeGreaterThan(0.8 * most)
    expect(sim.granting - before).toBeLessThanOrEqual(most)
  })
})
