// The limiter against its promises, on the simulated machine: any order of requests, crashes,
// restarts, drains, jumps of the clock, changes of plans, revocations and failures of the store.
// IPRISK_LIMITER_RUNS asks for more runs than those of every test, IPRISK_LIMITER_SEED for other
// ones.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EffectiveLimits } from '../../../src/account/keys/key-limits.ts'
import { assert } from '../../../src/base/assert.ts'
import { Simulator, batchUnitsMax } from './limiter-simulator.ts'
import { inForm } from '../../form.ts'

const runs = Number(process.env['IPRISK_LIMITER_RUNS'] ?? inForm({ short: 150, full: 600 }))
const seed = Number(process.env['IPRISK_LIMITER_SEED'] ?? 2026)

const august = Date.UTC(2026, 7, 31, 23, 59, 57)
const keyIds = ['small', 'large', 'free'] as const
const plans: readonly EffectiveLimits[] = [
  { rate: { perSecond: 50, burst: 100 }, quotaPerMonth: 100 },
  { rate: { perSecond: 7, burst: 10 }, quotaPerMonth: 1000 },
  { rate: { perSecond: 5000, burst: 10_000 }, quotaPerMonth: 20_000 },
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
  admitMany: (sim, a, b, c) => {
    for (let i = 0; i < c * 3; i += 1) sim.admit((a + i) % sim.workers.length, pick(keyIds, b), 1)
  },
  deliver: (sim, a) => sim.deliver(1 + a),
  advance: (sim, _a, b, c) => sim.advance(b * 37 + c),
  advanceFar: (sim, _a, b, c) => sim.advance(b * 3700 + c),
  tick: (sim, a) => sim.tick(a),
  crash: (sim, a, b) => sim.crash(a, (b % 3) / 2),
  crashAll: async (sim, a) => {
    for (let index = 0; index < sim.workers.length; index += 1) await sim.crash(index, (a % 3) / 2)
  },
  restart: (sim, a) => sim.start(a),
  takeOver: (sim, a) => sim.takeOver(a),
  drain: (sim, a) => sim.drain(a),
  jump: (sim, a, b) => sim.jump(pick(instants, a + b)),
  plan: (sim, _a, b, c) => sim.setLimits(pick(keyIds, b), pick(plans, c)),
  revoke: (sim, _a, b) => void sim.limits.delete(pick(keyIds, b)),
  refresh: (sim, a) => sim.bindAll(a),
  fail: (sim, a) => void (sim.failing = a === 0),
} as const satisfies Record<
  string,
  (sim: Simulator, a: number, b: number, c: number) => void | Promise<void>
>
type Happening = keyof typeof happenings

const frequent: readonly Happening[] = ['spend', 'spendMany', 'admit', 'deliver', 'advance', 'tick']
const names = [...frequent, ...frequent, ...(Object.keys(happenings) as Happening[])]

const step = fc.tuple(
  fc.constantFrom(...names),
  fc.nat({ max: 3 }),
  fc.nat({ max: 20 }),
  fc.nat({ max: 40 }),
)

type History = readonly (readonly [Happening, number, number, number])[]

/** What has failed once, as small as it could be made; each is run again in every test. */
const failures: readonly (readonly [string, History])[] = [
  [
    'a refund for a request that arrived at the very instant of a turn of the month',
    [
      ['jump', 0, 7, 0],
      ['refused', 1, 0, 0],
      ['deliver', 0, 0, 1],
      ['tick', 1, 0, 0],
      ['refund', 0, 0, 0],
    ],
  ],
  [
    'the same after the request had waited for its lease',
    [
      ['refused', 0, 0, 0],
      ['deliver', 0, 0, 0],
      ['jump', 2, 0, 1],
      ['tick', 0, 0, 0],
      ['refund', 0, 0, 0],
    ],
  ],
  [
    'what was spent without a quota was refunded into one',
    [
      ['plan', 0, 0, 5],
      ['refresh', 0, 0, 1],
      ['refused', 0, 0, 4],
      ['plan', 0, 0, 3],
      ['refresh', 0, 0, 1],
      ['spend', 0, 0, 0],
      ['deliver', 0, 0, 1],
      ['refund', 0, 0, 1],
    ],
  ],
  [
    'what was spent of a large quota was refunded into a small one',
    [
      ['refused', 0, 1, 4],
      ['refused', 0, 1, 4],
      ['deliver', 0, 0, 1],
      ['deliver', 0, 0, 1],
      ['plan', 0, 1, 3],
      ['refresh', 0, 0, 1],
      ['refund', 0, 0, 1],
    ],
  ],
  [
    'a request that arrived before the month ended and was charged after it was not refunded',
    [
      ['jump', 0, 1, 1],
      ['tick', 0, 0, 1],
      ['refused', 0, 0, 4],
      ['advance', 0, 3, 1],
      ['tick', 0, 0, 1],
      ['deliver', 3, 0, 1],
      ['deliver', 3, 0, 1],
      ['deliver', 3, 0, 1],
      ['refund', 0, 0, 1],
    ],
  ],
]

let steps = 0

/** One history from its beginning to the end of every worker. */
async function live(history: History): Promise<void> {
  const sim = new Simulator({ workers: 4, wallMs: august, limits: firstLimits })
  for (const [name, a, b, c] of history) {
    await happenings[name](sim, a, b, c)
    // Promises run on between the steps, in most cases.
    if (c % 4 !== 0) await new Promise(setImmediate)
    sim.check()
    steps += 1
  }
  sim.failing = false
  for (let index = 0; index < sim.workers.length; index += 1) await sim.drain(index)
  sim.check()
  sim.checkDrained()
  await spendTheRest(sim)
}

/** Whatever happened: what is not spent or lost can still be spent, by any worker, to the last. */
async function spendTheRest(sim: Simulator): Promise<void> {
  sim.setLimits('small', { quotaPerMonth: 150 })
  sim.jump(Date.UTC(2026, 8, 2))
  for (const index of [0, 1]) sim.start(index)
  const name = '2026-09 small'
  const before = sim.counters.get(name)?.value ?? 0
  const spentBefore = sim.spent.get(name) ?? 0
  for (let second = 0; second < 20; second += 1) {
    // One worker asks a few times and stops; the other is to get what that one holds.
    if (second === 0) sim.spend(0, 'small', 2)
    for (let i = 0; i < 150; i += 1) sim.spend(1, 'small', 1)
    await sim.settle()
    sim.advance(1100)
    for (const index of [0, 1]) sim.tick(index)
    await sim.settle()
  }
  sim.check()
  const spent = (sim.spent.get(name) ?? 0) - spentBefore
  assert(spent === Math.max(0, 150 - before), `${spent} spent, ${before} were taken`)
}

describe('the limiter', () => {
  it('keeps its promises in any history', { timeout: 600_000 }, async () => {
    const history = fc.array(step, { maxLength: 300, size: 'max' })
    await fc.assert(fc.asyncProperty(history, live), { numRuns: runs, seed })
    process.stdout.write(`${steps} steps of the model\n`)
    expect(steps).toBeGreaterThan(Math.min(100_000, runs * 90))
  })

  it.each(failures)('keeps them where they were broken once: %s', async (_what, history) => {
    await expect(live(history)).resolves.toBeUndefined()
  })
})
