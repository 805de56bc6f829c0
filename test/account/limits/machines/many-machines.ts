// Several machines to try the shared limiter on: the simulated machine (limiter-simulator.ts) with
// workers on nodes, a rate file and a clock of its own for each node, and one store for all. The
// limiter, its shares, leases and balances are the real ones; the store's scripts are played by
// their twins (`leaseGrantUnits`, `takeFromBucket`), to which redis-connection.world.test.ts holds the scripts.
//
// A node may be cut off: then what its workers ask never arrives, or arrives and is not heard of,
// or is answered when the node is back. Whoever knows that it is cut off asks nothing. A store that
// refuses has done nothing. So units are lost by a death or by what was on its way, and by nothing
// else: `checkDrained` counts every one of them.

import type { SharedBuckets } from '../../../../src/account/limits/shared-bucket.ts'
import { type BucketState, takeFromBucket } from './take-from-bucket.ts'
import { sharedBucketSizes } from '../../../../src/account/limits/shared-bucket.ts'
import {
  type LeaseGrant,
  type QuotaLedger,
  leaseGrantUnits,
} from '../../../../src/account/limits/quota-ledger.ts'
import type { EffectiveLimits } from '../../../../src/account/keys/key-limits.ts'
import type { Limiter } from '../../../../src/account/limits/limiter.ts'
import { paceOf } from '../../../../src/account/limits/rate.ts'
import { createSharedLimiter } from '../../../../src/account/limits/shared-limiter.ts'
import type { RateFile } from '../../../../src/account/limits/rate-file.ts'
import { assert } from '../../../../src/base/assert.ts'
import { IpriskError } from '../../../../src/base/coded-error.ts'
import type { ErrorCode } from '../../../../src/base/error-codes.ts'
import type { Rate } from '../../../../src/config/plan.ts'
import { type Change, Simulator, turn } from '../limiter-simulator.ts'

/**
 * How a node is cut off: what it asks is lost before the store, the answer after it, or it is late.
 */
export type Cut = 'before' | 'after' | 'late'

const failure = (code: ErrorCode, retryable: boolean): IpriskError =>
  new IpriskError({ code, message: code, fault: 'environment', retryable })
const notSent = failure('store_unreachable', true)
const refused = failure('store_refuses', true)
const unheard = failure('store_unknown', false)
const lostUnits = failure('store_lost_units', false)

export class NodesSimulator extends Simulator {
  readonly perNode: number
  readonly policy: 'serve' | 'refuse'
  readonly cuts = new Map<number, Cut>()
  /** Whether a worker knows that it is cut off. */
  readonly aware = new Set<number>()
  /** What the limiters say. */
  readonly hooks = {
    onTrouble: (_error: unknown): void => undefined,
    onRecovery: (): void => undefined,
  }
  reboots = 0
  /** How often a worker may have begun anew to serve a whole quota uncounted, each at most once. */
  private chances = 0
  /** Charges that nobody will know to have been missed. */
  private uncharged: Map<string, number> | undefined
  granting = 0
  asking = 0
  // Made at first use, for the first workers start before this class has its own members.
  private files: Map<number, RateFile> | undefined
  private store: Map<string, BucketState> | undefined
  private asker = 0
  /** By node and limit: what the store has given it since its start, and what it has granted. */
  private readonly given = new Map<string, number>()
  private readonly passed = new Map<string, number>()
  private readonly rates = new Map<string, Rate>()
  /** By worker and counter: what was leased and is neither spent nor on its way back. */
  private holdings: Map<string, number> | undefined
  /** Answers that come when the node is back. */
  private late: { readonly worker: number; readonly tell: () => void }[] = []

  constructor(options: {
    readonly nodes: number
    readonly workers: number
    readonly wallMs: number
    readonly limits: ReadonlyMap<string, EffectiveLimits>
    readonly policy?: 'serve' | 'refuse'
  }) {
    super({ ...options, workers: 0 })
    this.perNode = options.workers
    this.policy = options.policy ?? 'refuse'
    this.workers.length = options.nodes * options.workers
    for (let index = 0; index < this.workers.length; index += 1) this.start(index)
  }

  get nodes(): number {
    return this.workers.length / this.perNode
  }

  nodeOf(worker: number): number {
    return Math.floor(worker / this.perNode)
  }

  /** Every worker dies and the machine starts anew: its rate file and its clock are others. */
  async reboot(node: number, madeShare: number): Promise<void> {
    for (let worker = node * this.perNode; worker < (node + 1) * this.perNode; worker += 1) {
      await this.crash(worker, madeShare)
    }
    this.files?.delete(node)
    for (const map of [this.given, this.passed]) {
      for (const name of map.keys()) if (name.startsWith(`${node} `)) map.delete(name)
    }
    this.reboots += 1
  }

  override async crash(index: number, madeShare: number): Promise<void> {
    // What it has been told it has heard.
    await turn()
    const { everBound } = this.workers[index] ?? {}
    for (const [key, keyId] of everBound ?? []) {
      // The rest of what it holds is lost as well.
      this.hold(index, this.nameOf(keyId, key.lease.month), -key.lease.units)
    }
    this.loseHoldings(index)
    await super.crash(index, madeShare)
  }

  override async drain(index: number): Promise<void> {
    if (this.workers[index] === undefined) return
    await super.drain(index)
    this.loseHoldings(index)
  }

  /** The node is back; what was answered meanwhile arrives. */
  mend(node: number): void {
    this.cuts.delete(node)
    for (let worker = 0; worker < this.workers.length; worker += 1) {
      if (this.nodeOf(worker) === node) this.aware.delete(worker)
    }
    const late = this.late.filter(({ worker }) => this.nodeOf(worker) === node)
    this.late = this.late.filter(({ worker }) => this.nodeOf(worker) !== node)
    for (const { tell } of late) tell()
  }

  private hold(worker: number, name: string, units: number): void {
    this.holdings ??= new Map()
    this.add(this.holdings, `${worker} ${name}`, units)
  }

  protected override took(index: number, name: string, units: number): void {
    this.hold(index, name, -units)
  }

  private loseHoldings(worker: number): void {
    for (const [which, units] of this.holdings ?? []) {
      if (!which.startsWith(`${worker} `)) continue
      // Of what is charged after it was refunded nothing was leased.
      assert(units >= 0 || this.policy === 'serve', `${which} holds ${units}`)
      this.add(this.lost, which.slice(which.indexOf(' ') + 1), Math.max(0, units))
      this.holdings?.delete(which)
    }
  }

  override admit(index: number, keyId: string, requests: number): void {
    this.asker = this.nodeOf(index)
    super.admit(index, keyId, requests)
  }

  override start(index: number): void {
    if (this.workers[index] === undefined) this.chances = (this.chances ?? 0) + 1
    super.start(index)
  }

  // With other keys, limits or months every worker knows nothing of what is left.
  override bindAll(index: number): void {
    this.chances = (this.chances ?? 0) + 1
    super.bindAll(index)
  }

  override jump(toMs: number): void {
    this.chances += this.workers.length
    super.jump(toMs)
  }

  /**
   * Under "serve" units are spent uncounted, but a whole quota once by each worker that knows no
   * better.
   */
  protected override checkSpent(name: string, value: number, spent: number): void {
    if (this.policy === 'refuse') {
      super.checkSpent(name, value, spent)
      return
    }
    const keyId = name.slice(name.indexOf(' ') + 1)
    const most = this.quotaOf(keyId) * (1 + this.chances) + (this.uncharged?.get(name) ?? 0)
    assert(value <= most && spent <= most, `${name}: ${value} taken, ${spent} spent of ${most}`)
  }

  protected override checkKnown(): void {
    if (this.policy === 'refuse') super.checkKnown()
  }

  /** Every balance lies where shared-bucket.ts says, and comes from the store alone. */
  override check(): void {
    super.check()
    for (const [node, file] of this.files ?? []) {
      for (const [limit, rate] of this.rates) {
        const balance = file.words[file.slotOf(limit.split(' ')[0] ?? '', rate)] ?? 0
        const { credit, ahead } = sharedBucketSizes(rate)
        const inside = balance >= -credit && balance <= ahead
        assert(inside, `${node} ${limit}: a balance of ${balance}`)
        // What a node serves by its own limit comes from nowhere.
        if (this.policy === 'serve') continue
        const [given, passed] = [this.given, this.passed].map((map) => map.get(`${node} ${limit}`))
        const kept = (given ?? 0) - (passed ?? 0)
        assert(
          balance <= kept,
          `${node} ${limit}: a balance of ${balance}, and ${kept} from the store`,
        )
      }
    }
  }

  protected override openLimiter(index: number): Limiter {
    const node = this.nodeOf(index)
    return createSharedLimiter({
      leaseFile: this.openLeaseFile(index),
      rateFile: this.fileOf(node),
      ledger: this.ledgerFor(index),
      buckets: this.bucketsFor(index),
      policy: this.policy,
      machineOffsetMs: 5_000_000 + node * 1_234_567,
      now: () => this.nowMs,
      wall: () => this.wallMs,
      onTrouble: (error) => this.hooks?.onTrouble(error),
      onRecovery: () => this.hooks?.onRecovery(),
    })
  }

  private fileOf(node: number): RateFile {
    this.files ??= new Map()
    const known = this.files.get(node)
    if (known !== undefined) return known
    const slots = new Map<string, number>()
    const words = new Int32Array(4096)
    const file: RateFile = {
      path: 'simulated',
      isNew: false,
      words,
      slotOf: (keyId, { perSecond, burst }) => {
        const name = `${keyId} ${perSecond} ${burst}`
        const slot = slots.get(name) ?? slots.size * 2
        slots.set(name, slot)
        return slot
      },
      counts: () => ({ used: slots.size, max: words.length / 2 }),
      close: () => undefined,
    }
    this.files.set(node, file)
    return file
  }

  /** Puts a change on its way; what it came to, when it is told. */
  private post<T>(
    worker: number,
    name: string,
    by: number,
    act: (change: Change) => T,
    charge = false,
  ): Promise<T> {
    if (this.aware.has(worker)) return Promise.reject(notSent)
    return new Promise((resolve, reject) => {
      let result: T
      const change: Change = {
        worker,
        name,
        by,
        charge,
        commit: () => {
          result = act(change)
        },
        tell: () => resolve(result),
        fail: (error = refused) => reject(error),
      }
      this.changes.push(change)
    })
  }

  private move(name: string, by: number): void {
    const { value, version } = this.counters.get(name) ?? { value: 0, version: 0 }
    assert(value + by >= 0, `${name} falls below zero`)
    this.counters.set(name, { value: value + by, version: version + 1 })
  }

  /**
   * Takes units back, where it has so many. It may lack those that were refunded, and never
   * charged; the leased ones that come back with them are then refused as well, and lost.
   */
  private return(name: string, units: number): boolean {
    const { value } = this.counters.get(name) ?? { value: 0 }
    const lacks = Math.max(0, units - value)
    assert(lacks <= (this.uncharged?.get(name) ?? 0), `${name} lacks ${lacks} of ${units}`)
    if (lacks === 0) this.move(name, -units)
    else this.add(this.lost, name, units - lacks)
    return lacks === 0
  }

  private ledgerFor(worker: number): QuotaLedger {
    return {
      lease: async ({ keyId, month, onLate, ...asked }) => {
        const name = this.nameOf(keyId, month)
        const life = this.workers[worker]
        const grant = await this.post<LeaseGrant>(worker, name, asked.want, (change) => {
          if (this.cuts.get(this.nodeOf(worker)) === 'late') {
            const tell = (): void => {
              if (this.workers[worker] !== life) return
              this.add(this.lost, name, -change.by)
              this.hold(worker, name, change.by)
              onLate?.(change.by)
            }
            this.late.push({ worker, tell })
          }
          const granted = leaseGrantUnits(this.counters.get(name)?.value ?? 0, asked)
          change.by = granted
          if (granted > 0) this.move(name, granted)
          const quota = Math.max(this.quotaMax.get(name) ?? 0, this.quotaOf(keyId))
          this.quotaMax.set(name, quota)
          const remaining = asked.limit - (this.counters.get(name)?.value ?? 0)
          return { granted, remaining: Math.max(0, remaining) }
        })
        this.hold(worker, name, grant.granted)
        return grant
      },
      returnUnits: async (keyId, month, units) => {
        const name = this.nameOf(keyId, month)
        this.hold(worker, name, -units)
        try {
          const taken = await this.post(worker, name, -units, () => this.return(name, units))
          if (!taken) throw lostUnits
        } catch (error) {
          if (error !== unheard && error !== lostUnits) this.hold(worker, name, units)
          throw error
        }
      },
      down: () => this.aware.has(worker),
      charge: (keyId, month, units) => {
        const name = this.nameOf(keyId, month)
        const made = this.post(worker, name, units, () => this.move(name, units), true)
        return made.catch((error: unknown) => {
          this.uncharged ??= new Map()
          if (error === unheard) this.add(this.uncharged, name, units)
          throw error
        })
      },
      usage: async () => new Map(),
      close: async () => undefined,
    }
  }

  private bucketsFor(worker: number): SharedBuckets {
    this.store ??= new Map()
    const store = this.store
    return {
      takeTokens: ({ keyId, rate, want, need }) => {
        this.asking += 1
        const name = `rate ${rate.perSecond} ${rate.burst} of ${keyId}!`
        const { capacity } = sharedBucketSizes(rate)
        return this.post(worker, name, 0, () => {
          const bucket = store.get(name) ?? { level: 0, atUs: 0 }
          const asked = { perSecond: rate.perSecond, capacity, want, need }
          const taken = takeFromBucket(bucket, Math.floor(this.nowMs * 1000), asked)
          store.set(name, taken.bucket)
          const limit = `${this.nodeOf(worker)} ${keyId} ${rate.perSecond} ${rate.burst}`
          this.add(this.given, limit, taken.taking.granted)
          if (need > 0 && taken.taking.granted === need) {
            // A batch from the bucket counts when the bucket gives it, heard of or not.
            this.asker = this.nodeOf(worker)
            this.judge(keyId, rate, need, true)
          }
          return taken.taking
        })
      },
      down: () => this.aware.has(worker),
    }
  }

  protected override deliverOne(change: Change): void {
    const cut = this.cuts.get(this.nodeOf(change.worker))
    if (this.failing) {
      change.fail()
      return
    }
    if (cut === undefined) {
      super.deliverOne(change)
      return
    }
    // A lease of which nobody hears is lost, and so is a giving back that never arrives.
    const arrives = cut !== 'before'
    if (arrives) change.commit()
    if (!change.charge && change.by > 0 === arrives)
      this.add(this.lost, change.name, Math.abs(change.by))
    change.fail(unheard)
  }

  /** However the nodes share it: no more than the limit and one lease for each of them. */
  protected override judge(keyId: string, rate: Rate, requests: number, granted: boolean): void {
    if (!granted) return
    this.granting += requests
    const name = `${keyId} ${rate.perSecond} ${rate.burst}`
    this.rates.set(name, rate)
    this.add(this.passed, `${this.asker} ${name}`, requests)
    const bucket = this.buckets.get(name) ?? { level: 0, atMs: this.nowMs }
    this.buckets.set(name, bucket)
    const drained = ((this.nowMs - bucket.atMs) * rate.perSecond) / 1000
    bucket.level = Math.max(0, bucket.level - drained) + requests
    bucket.atMs = this.nowMs
    const tick = 1 / paceOf(rate).requestTicks + 1e-6
    if (this.policy === 'serve') return
    const most = rate.burst + sharedBucketSizes(rate).lease * (this.nodes + this.reboots)
    assert(bucket.level <= most + tick, `${name}: ${bucket.level} is over ${most}`)
  }
}
