// A small machine to try the limiter on: several workers, one rate file, one ledger, a clock that
// the test moves. The limiter, its leases and the ledger are the real ones; only time, the file's
// memory and the store below the ledger are played. A change of the store happens when `deliver`
// says so; a worker can die before it, after it, or between it and the news of it.
//
// Every step holds the invariants (`check`): see there.

import type { Allowance } from '../../../src/account/limits/allowance.ts'
import {
  type VersionedCounter,
  type CounterStore,
  createQuotaLedger,
} from '../../../src/account/limits/quota-ledger.ts'
import type { EffectiveLimits } from '../../../src/account/keys/key-limits.ts'
import { type Limiter, createLimiter } from '../../../src/account/limits/limiter.ts'
import { rateResults } from '../../../src/account/limits/rate.ts'
import { type Month, formatMonth, monthOf } from '../../../src/account/limits/quota-period.ts'
import { quotaResults } from '../../../src/account/limits/quota.ts'
import { paceOf } from '../../../src/account/limits/rate.ts'
import {
  type HeldUnits,
  type LeaseFile,
  noLeaseSlot,
} from '../../../src/account/limits/lease-file.ts'
import type { RateFile } from '../../../src/account/limits/rate-file.ts'
import { assert } from '../../../src/base/assert.ts'
import type { Rate } from '../../../src/config/plan.ts'

/** A change on its way to the store. */
export interface Change {
  readonly worker: number
  readonly name: string
  /** What it adds; where the store decides, the most until it has. */
  by: number
  /** It is no lease: what is charged was granted before, and is lost to nobody. */
  readonly charge: boolean
  readonly commit: () => void
  readonly tell: () => void
  readonly fail: (error?: Error) => void
}

interface SimulatedWorker {
  readonly limiter: Limiter
  readonly keys: Map<string, Allowance>
  /** Those of revoked keys too: requests under way may still hold one. */
  readonly everBound: Map<Allowance, string>
  /** By key id. */
  readonly refunded: Map<string, number>
  /** The wall clock has jumped since its last tick. */
  unaware: boolean
}

/** Requests of a key that were granted under one rate limit, as a leaking bucket: the slow twin. */
interface Bucket {
  level: number
  atMs: number
}

/** A lease file without a disk: what it holds outlives its worker. */
class SimulatedLeaseFile implements LeaseFile {
  readonly words = new Int32Array(3)
  private readonly owners = new Map<number, { readonly keyId: string; readonly month: Month }>()
  readonly takeOver: () => readonly HeldUnits[]

  constructor(takeOver: () => readonly HeldUnits[]) {
    this.takeOver = takeOver
  }

  /** Two slots, so that some leases have none. */
  claim(keyId: string, month: number): number {
    const slot = [1, 2].find((free) => !this.owners.has(free)) ?? noLeaseSlot
    this.words[slot] = 0
    if (slot !== noLeaseSlot) this.owners.set(slot, { keyId, month: month as Month })
    return slot
  }

  free(slot: number): void {
    this.words[slot] = 0
    this.owners.delete(slot)
  }

  held(): readonly HeldUnits[] {
    return [...this.owners].map(([slot, owner]) => ({ ...owner, units: this.words[slot] ?? 0 }))
  }

  close(): void {
    assert(this.owners.size === 0, 'a worker ends with units in its lease file')
  }
}

export class Simulator {
  nowMs = 1_000_000
  wallMs: number
  failing = false
  readonly limits = new Map<string, EffectiveLimits>()
  readonly workers: (SimulatedWorker | undefined)[]
  readonly counters = new Map<string, VersionedCounter>()
  /** Spent units by `month key`, and the largest quota that was ever in force there. */
  readonly spent = new Map<string, number>()
  readonly quotaMax = new Map<string, number>()
  readonly lost = new Map<string, number>()
  granted = 0
  denied = 0
  unavailable = 0
  protected changes: Change[] = []
  private refunds: (() => void)[] = []
  private readonly leaseFiles: SimulatedLeaseFile[] = []
  private orphaned: HeldUnits[] = []
  private readonly slots = new Map<string, number>()
  private readonly words = new Int32Array(4096)
  private readonly quotas = new Map<string, readonly number[]>()
  protected readonly buckets = new Map<string, Bucket>()

  constructor(options: {
    readonly workers: number
    readonly wallMs: number
    readonly limits: ReadonlyMap<string, EffectiveLimits>
  }) {
    this.wallMs = options.wallMs
    this.workers = Array.from({ length: options.workers }, () => undefined)
    for (const [keyId, limits] of options.limits) this.setLimits(keyId, limits)
    for (let index = 0; index < options.workers; index += 1) this.start(index)
  }

  start(index: number): void {
    if (this.workers[index] !== undefined) return
    this.workers[index] = {
      limiter: this.openLimiter(index),
      keys: new Map(),
      everBound: new Map(),
      refunded: new Map(),
      unaware: false,
    }
    this.bindAll(index)
  }

  /** A new one, for a worker that starts. */
  protected openLeaseFile(index: number): LeaseFile {
    const file = new SimulatedLeaseFile(() => {
      const { orphaned } = this
      this.orphaned = []
      // From here on they are as lost as any that are on their way back.
      for (const { keyId, month, units } of orphaned)
        this.add(this.lost, this.nameOf(keyId, month), -units)
      return orphaned.filter(({ units }) => units > 0)
    })
    this.leaseFiles[index] = file
    return file
  }

  /** A worker gives back what dead ones have left. */
  takeOver(index: number): void {
    this.workers[index]?.limiter.takeOverLeases()
  }

  protected openLimiter(index: number): Limiter {
    return createLimiter({
      leaseFile: this.openLeaseFile(index),
      rateFile: this.rateFile(),
      ledger: createQuotaLedger(this.countersFor(index)),
      machineOffsetMs: 5_000_000,
      now: () => this.nowMs,
      wall: () => this.wallMs,
      onTrouble: () => undefined,
      onRecovery: () => undefined,
    })
  }

  /** The worker reads the keys again. */
  bindAll(index: number): void {
    const worker = this.workers[index]
    if (worker === undefined) return
    for (const [keyId, limits] of this.limits) {
      const key = worker.limiter.bind(keyId, limits)
      worker.keys.set(keyId, key)
      worker.everBound.set(key, keyId)
    }
    for (const keyId of worker.keys.keys()) {
      if (this.limits.has(keyId)) continue
      worker.limiter.release(keyId)
      worker.keys.delete(keyId)
    }
  }

  admit(index: number, keyId: string, requests: number): void {
    const worker = this.workers[index]
    const key = worker?.keys.get(keyId)
    if (worker === undefined || key === undefined) return
    const result = worker.limiter.spendRate(key, requests, this.nowMs)
    if (result === rateResults.pending) {
      worker.limiter.spendRateLater(key, requests, () => undefined)
      return
    }
    if (key.limits.rate !== undefined) this.judge(keyId, key.limits.rate, requests, result === 0)
  }

  /** Holds a decision against the twin: granted only what fits, denied only what does not. */
  protected judge(keyId: string, rate: Rate, requests: number, granted: boolean): void {
    const name = `${keyId} ${rate.perSecond} ${rate.burst}`
    const bucket = this.buckets.get(name) ?? { level: 0, atMs: this.nowMs }
    this.buckets.set(name, bucket)
    bucket.level -= ((this.nowMs - bucket.atMs) * rate.perSecond) / 1000
    bucket.level = Math.max(0, bucket.level)
    bucket.atMs = this.nowMs
    const tick = 1 / paceOf(rate).requestTicks + 1e-6
    const level = bucket.level + requests
    if (granted) {
      assert(level <= rate.burst + tick, `${name}: ${level} is over the burst`)
      bucket.level = level
    } else {
      assert(level > rate.burst - tick, `${name}: denied at ${level}`)
    }
  }

  /** One request that needs `units`; those that wait ask again when they are called. */
  spend(index: number, keyId: string, units: number, refund = false): void {
    const worker = this.workers[index]
    const key = worker?.keys.get(keyId)
    if (worker === undefined || key === undefined) return
    const arrivedMs = this.nowMs
    const ask = (): void => {
      if (this.workers[index] !== worker) return
      const owed = { ...key.debt }
      const result = worker.limiter.spendQuota(key, units, arrivedMs)
      if (result === quotaResults.pending) {
        if (this.nowMs - arrivedMs < 3000) worker.limiter.whenLeased(key, ask)
        return
      }
      if (result === quotaResults.exceeded) this.denied += 1
      if (result === quotaResults.unavailable) this.unavailable += 1
      if (result !== quotaResults.granted) return
      const spent = { units, month: worker.limiter.spentMonth(key), arrivedMs }
      if (key.lease.quota < 0) {
        // Nobody counts it, and nothing of it comes back.
        if (refund) this.refunds.push(() => worker.limiter.refund(key, spent))
        return
      }
      this.granted += 1
      if (!worker.unaware && arrivedMs === this.nowMs) {
        assert(key.lease.month === monthOf(this.wallMs), 'another month is charged')
      }
      const name = this.nameOf(keyId, key.lease.month)
      this.add(this.spent, name, units)
      // What is owed was never leased.
      if (key.debt.units === owed.units && key.debt.month === owed.month)
        this.took(index, name, units)
      if (!refund) return
      this.refunds.push(() => {
        if (this.workers[index] !== worker) return
        const [leasedUnits, debtUnits] = [key.lease.units, key.debt.units]
        worker.limiter.refund(key, spent)
        // Whatever has changed since: all of them go back, to the lease, a debt or the ledger.
        this.add(this.spent, name, -units)
        this.took(index, name, debtUnits - key.debt.units - units)
        this.add(worker.refunded, keyId, key.lease.units - leasedUnits)
      })
    }
    ask()
  }

  /** A worker has spent what it had leased. */
  protected took(_index: number, _name: string, _units: number): void {}

  /** Requests that were granted and came to nothing get their units back, possibly late. */
  refund(): void {
    const refunds = this.refunds
    this.refunds = []
    for (const refund of refunds) refund()
  }

  tick(index: number): void {
    const worker = this.workers[index]
    if (worker === undefined) return
    worker.limiter.tick()
    worker.unaware = false
  }

  advance(ms: number): void {
    this.nowMs += ms
    this.wallMs += ms
  }

  jump(toMs: number): void {
    this.wallMs = toMs
    for (const worker of this.workers) if (worker !== undefined) worker.unaware = true
  }

  /** The store makes the oldest changes, or fails them. */
  deliver(count: number): void {
    for (const change of this.changes.splice(0, count)) this.deliverOne(change)
  }

  protected deliverOne(change: Change): void {
    if (this.failing) {
      if (change.by < 0) this.add(this.lost, change.name, -change.by)
      change.fail()
    } else {
      change.commit()
      change.tell()
    }
  }

  /** kill -9: of its changes some are made, and nobody hears of it. */
  async crash(index: number, madeShare: number): Promise<void> {
    // What it has been told it has heard; what is made below it never hears of.
    await turn()
    const worker = this.workers[index]
    if (worker === undefined) return
    this.workers[index] = undefined
    this.orphaned.push(...(this.leaseFiles[index]?.held() ?? []))
    const mine = this.changes.filter((change) => change.worker === index)
    this.changes = this.changes.filter((change) => change.worker !== index)
    for (const [key, keyId] of worker.everBound) {
      const asked = mine.filter(
        ({ name, by, charge }) => !charge && name.endsWith(` ${keyId}`) && by > 0,
      )
      const taken = asked.reduce((sum, { by }) => sum + by, 0)
      const lease = Math.max(key.lease.size, ...asked.map(({ by }) => by), batchUnitsMax)
      const atMost = lease + (worker.refunded.get(keyId) ?? 0)
      assert(
        key.lease.units + taken <= atMost,
        `a crash loses ${key.lease.units} + ${taken}, not ${atMost}`,
      )
      this.add(this.lost, this.nameOf(keyId, key.lease.month), key.lease.units)
    }
    mine.forEach((change, at) => {
      const before = this.counters.get(change.name)?.version
      const made = at < Math.round(mine.length * madeShare)
      if (made) change.commit()
      // A lease that was made and never heard of, or units that were never given back.
      const changed = this.counters.get(change.name)?.version !== before
      if (!change.charge && changed === change.by > 0)
        this.add(this.lost, change.name, Math.abs(change.by))
    })
  }

  /** A drain; the worker is gone when its leases are back. */
  async drain(index: number): Promise<void> {
    const worker = this.workers[index]
    if (worker === undefined) return
    const closed = worker.limiter.close()
    await this.settle()
    await closed
    this.workers[index] = undefined
  }

  /** Everything that can happen without time passing has happened. */
  async settle(): Promise<void> {
    do {
      this.deliver(1000)
      await turn()
    } while (this.changes.length > 0)
  }

  /** What holds at every step. */
  check(): void {
    for (const [name, { value }] of this.counters) {
      assert(value >= 0, `${name} is below zero`)
      this.checkSpent(name, value, this.spent.get(name) ?? 0)
    }
    this.checkKnown()
    this.checkLeaseFiles()
  }

  /** A slot of a lease file says what its lease holds. */
  private checkLeaseFiles(): void {
    this.workers.forEach((worker, index) => {
      for (const { lease } of worker?.everBound.keys() ?? []) {
        const noted = this.leaseFiles[index]?.words[lease.slot] ?? 0
        assert(
          lease.slot === noLeaseSlot || noted === lease.units,
          `${lease.keyId} holds ${lease.units}, and its slot ${noted}`,
        )
      }
    })
  }

  /** Every unit that is spent or held was taken before, and no more than the quota. */
  protected checkSpent(name: string, value: number, spent: number): void {
    const most = this.quotaMax.get(name) ?? 0
    assert(value <= most, `${name}: ${value} is over its quota of ${most}`)
    const held = this.heldOf(name)
    assert(spent + held <= value, `${name}: ${spent} spent, ${held} held, ${value} taken`)
  }

  protected checkKnown(): void {
    for (const name of this.spent.keys()) assert(this.counters.has(name), `${name} is unknown`)
  }

  /** With nobody left, every unit taken is spent or was lost by a crash. */
  checkDrained(): void {
    for (const [name, { value }] of this.counters) {
      const spent = this.spent.get(name) ?? 0
      const lost = this.lost.get(name) ?? 0
      assert(value - spent <= lost, `${name}: ${value} taken, ${spent} spent, ${lost} lost`)
    }
  }

  nameOf(keyId: string, month: number): string {
    return `${formatMonth(month as ReturnType<typeof monthOf>)} ${keyId}`
  }

  /** What all workers hold; none of them more than the quota that it knows of. */
  private heldOf(name: string): number {
    let held = 0
    for (const worker of this.workers) {
      for (const [key, keyId] of worker?.everBound ?? []) {
        if (this.nameOf(keyId, key.lease.month) !== name) continue
        const most = Math.max(0, key.lease.quota)
        assert(key.lease.units <= most, `${name}: ${key.lease.units} held of a quota of ${most}`)
        held += key.lease.units
      }
    }
    return held
  }

  protected add(to: Map<string, number>, name: string, units: number): void {
    to.set(name, (to.get(name) ?? 0) + units)
  }

  private rateFile(): RateFile {
    return {
      path: 'simulated',
      isNew: false,
      words: this.words,
      slotOf: (keyId, { perSecond, burst }) => {
        const name = `${keyId} ${perSecond} ${burst}`
        const slot = this.slots.get(name) ?? this.slots.size
        if (slot < this.words.length) this.slots.set(name, slot)
        return slot
      },
      counts: () => ({ used: this.slots.size, max: this.words.length }),
      close: () => undefined,
    }
  }

  private countersFor(worker: number): CounterStore {
    const read = (name: string): VersionedCounter =>
      this.counters.get(name) ?? { value: 0, version: 0 }
    return {
      read,
      compareAndSwap: (name, before, value) =>
        new Promise((resolve, reject) => {
          let made = false
          const commit = (): void => {
            made = read(name).version === before.version
            if (!made) return
            this.counters.set(name, { value, version: before.version + 1 })
            const keyId = name.slice(name.indexOf(' ') + 1)
            this.quotaMax.set(name, Math.max(this.quotaMax.get(name) ?? 0, this.quotaOf(keyId)))
          }
          const tell = (): void => resolve(made)
          const fail = (): void => reject(new Error('the store fails'))
          const by = value - before.value
          this.changes.push({ worker, name, by, charge: false, commit, tell, fail })
        }),
      list: () => [],
      close: async () => undefined,
    }
  }

  /** The largest quota that the key has had, for workers learn of changes late. */
  protected quotaOf(keyId: string): number {
    return Math.max(...(this.quotas.get(keyId) ?? [0]))
  }

  setLimits(keyId: string, limits: EffectiveLimits): void {
    this.limits.set(keyId, limits)
    const quotas = this.quotas.get(keyId) ?? []
    this.quotas.set(keyId, [...quotas, limits.quotaPerMonth ?? 0])
  }
}

/** The largest number of units that one request of a simulation needs. */
export const batchUnitsMax = 100

/** Lets promises run on. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
