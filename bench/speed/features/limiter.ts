// Micro-benchmarks of keys and limits in this process, by tinybench: what a request pays for its
// key, its rate and its quota on a warm key, on a real key store, rate file and ledger. Each
// operation runs a chunk at a time. The clock moves on by what the rate allows, and each chunk
// gives its units back, so that every single request is granted: the sum of the results, which is
// printed, is 0.
//
//   --milliseconds 1000  for each row
//   --keys 1000          that take turns
//   --shared             the limiter of many machines, on a store that grants all at once
//   --smoke              whether it works, not how fast
//   --json               the report as JSON
//   --save               keep it in bench/runs/
//
// Bytes are what an operation allocates on the heap; 16 of them are the benchmark's own clock. A
// header's value comes as a string that nobody has hashed yet, and making one is most of a row that
// needs it: "a fresh Authorization value" is what to subtract. The report goes to standard output.

import { Bench } from 'tinybench'
import type { Allowance } from '../../../src/account/limits/allowance.ts'
import { remainingLength, rateLimitValue } from '../../../src/account/limits/ratelimit-values.ts'
import { createKey } from '../../../src/account/keys/issue-key.ts'
import { type Keyring, createKeyring } from '../../../src/account/keyring.ts'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { type Limiter, createLimiter } from '../../../src/account/limits/limiter.ts'
import {
  openLmdbCounterStore,
  openLmdbKeyStore,
} from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { createSharedLimiter } from '../../../src/account/limits/shared-limiter.ts'
import { openLeaseFile } from '../../../src/account/limits/lease-file.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import { readSettings } from '../../../src/config/settings.ts'
import { bootId, machineOffsetMs } from '../../../src/base/system/clock.ts'
import { readFlags } from '../../harness/option.ts'
import { runProgram, logProgress, showReport, temporaryFolder } from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'

const chunk = 1024

interface Row {
  readonly operation: string
  /** For one request: the median, mean and 99th percentile over chunks. */
  readonly nsMedian: number
  readonly nsMean: number
  readonly nsP99: number
  readonly bytes: number
  /** Of the results: 0 where all were granted. */
  readonly refused: number
}

export interface LimitReport extends RunHead {
  readonly kind: 'limit'
  readonly keys: number
  readonly rows: readonly Row[]
}

/** A request of the key whose turn it is, at an instant; 0 where it was granted. */
type Operation = (key: Allowance, atMs: number, turn: number) => number

interface Bound {
  readonly limiter: Limiter
  readonly keys: readonly Allowance[]
  readonly keyring: Keyring
  /** The value of the Authorization header of each key. */
  readonly authorizations: readonly Buffer[]
}

function operationsOf({
  limiter,
  keys,
  keyring,
  authorizations,
}: Bound): Readonly<Record<string, Operation>> {
  const free = limiter.bind('free', {})
  const out = new Float64Array(remainingLength)
  const authorization = (turn: number): string => {
    const bytes = authorizations[turn]!
    return bytes.toString('latin1')
  }
  return {
    'a fresh Authorization value': (_key, _atMs, turn) => (authorization(turn) === '' ? 1 : 0),
    'authenticate, from a fresh value': (_key, _atMs, turn) =>
      keyring.authenticate(authorization(turn)).kind === 'authenticated' ? 0 : 1,
    'authenticate + admit + spend, the same': (_key, atMs, turn) => {
      const outcome = keyring.authenticate(authorization(turn))
      if (outcome.kind === 'denied') return 1
      const { allowance } = outcome
      return limiter.spendRate(allowance, 1, atMs) | limiter.spendQuota(allowance, 1, atMs)
    },
    'key without limits': (_key, atMs) =>
      limiter.spendRate(free, 1, atMs) | limiter.spendQuota(free, 1, atMs),
    admit: (key, atMs) => limiter.spendRate(key, 1, atMs),
    'admit, one key': (_key, atMs) => limiter.spendRate(keys[0]!, 1, atMs),
    spend: (key, atMs) => limiter.spendQuota(key, 1, atMs),
    'admit + spend': (key, atMs) =>
      limiter.spendRate(key, 1, atMs) | limiter.spendQuota(key, 1, atMs),
    'admit + spend + remaining': (key, atMs) => {
      const result = limiter.spendRate(key, 1, atMs) | limiter.spendQuota(key, 1, atMs)
      limiter.remaining(key, atMs, out)
      return result
    },
    'the same, and both header values': (key, atMs) => {
      const result = limiter.spendRate(key, 1, atMs) | limiter.spendQuota(key, 1, atMs)
      limiter.remaining(key, atMs, out)
      return limiter.policy(key).length + rateLimitValue(out).length > 0 ? result : 1
    },
  }
}

/**
 * Units that each key leases and that each chunk finds: it can spend all of its own from one key.
 */
const units = 4 * chunk

const limits = { perSecond: 1_000_000, burst: 10_000_000, quotaPerMonth: 1e12 }

/** Real keys in a store, known to a keyring; every key has its slot and its units. */
async function bindKeys(limiter: Limiter, state: string, count: number): Promise<Bound> {
  const store = await openLmdbKeyStore(state)
  const { plans } = readSettings({ command: 'serve', flags: {}, environment: {}, cwd: state })
  const keyring = createKeyring({ store, plans, limiter })
  const key = { name: '', plan: 'internal', apis: ['ip-risk'], limits } as const
  const authorizations: Buffer[] = []
  for (let made = 0; made < count; made += 1) {
    const { text } = await createKey(store, key, Date.now())
    authorizations.push(Buffer.from(`Bearer ${text}`, 'latin1'))
  }
  // A reader of the store sees nothing new within one turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  await keyring.refresh(Date.now())
  const keys = authorizations.map((value) => {
    const outcome = keyring.authenticate(value.toString('latin1'))
    if (outcome.kind === 'denied') throw new Error(outcome.code)
    return outcome.allowance
  })
  const now = performance.now()
  for (const key of keys) limiter.spendRate(key, 1, now)
  const leased = keys.map(
    (key) =>
      new Promise<void>((resolve) => {
        limiter.spendQuota(key, units, now)
        limiter.whenLeased(key, resolve)
      }),
  )
  await Promise.all(leased)
  return { limiter, keys, keyring, authorizations }
}

async function measureRow(
  name: string,
  operation: Operation,
  { limiter, keys }: Bound,
  milliseconds: number,
): Promise<Row> {
  let atMs = performance.now()
  let turn = 0
  let refused = 0
  const pass = (): void => {
    for (let request = 0; request < chunk; request += 1) {
      atMs += 0.001
      turn = turn + 1 < keys.length ? turn + 1 : 0
      refused += operation(keys[turn]!, atMs, turn)
    }
  }
  const refill = (): void => {
    for (const key of keys) {
      const month = limiter.spentMonth(key)
      limiter.refund(key, { units: units - key.lease.units, month, arrivedMs: atMs })
    }
  }
  const bench = new Bench({ time: milliseconds, warmupTime: Math.ceil(milliseconds / 4) })
  bench.add(name, pass, { beforeEach: refill })
  const [task] = await bench.run()
  const result = task?.result
  if (result?.state !== 'completed') throw new Error(`${name} did not complete.`)
  const bytes = allocated(pass, refill)
  const nanoseconds = (chunkMs: number): number => (chunkMs * 1_000_000) / chunk
  return {
    operation: name,
    nsMedian: nanoseconds(result.latency.p50),
    nsMean: nanoseconds(result.latency.mean),
    nsP99: nanoseconds(result.latency.p99),
    bytes,
    refused,
  }
}

/** Heap bytes of one operation: the median of chunks, for a collection in between spoils some. */
function allocated(pass: () => void, refill: () => void): number {
  const samples: number[] = []
  for (let sample = 0; sample < 51; sample += 1) {
    refill()
    const before = process.memoryUsage().heapUsed
    pass()
    samples.push((process.memoryUsage().heapUsed - before) / chunk)
  }
  return samples.toSorted((a, b) => a - b)[25] ?? 0
}

async function openLimiter(state: string, shared: boolean): Promise<Limiter> {
  const ledger = createQuotaLedger(await openLmdbCounterStore(state))
  const parts = {
    rateFile: openRateFile(state, { boot: bootId() }),
    leaseFile: openLeaseFile(state, { boot: bootId() }),
    machineOffsetMs: machineOffsetMs(),
    now: () => performance.now(),
    wall: () => Date.now(),
    onTrouble: (error: unknown) => logProgress(String(error)),
    onRecovery: () => undefined,
  }
  if (!shared) return createLimiter({ ...parts, ledger })
  return createSharedLimiter({
    ...parts,
    ledger: { ...ledger, charge: async () => undefined },
    buckets: { takeTokens: async ({ want }) => ({ granted: want, level: 0 }), down: () => false },
    policy: 'refuse',
  })
}

async function main(): Promise<number> {
  const flags = readFlags({
    numbers: {
      milliseconds: { max: 3_600_000, otherwise: 1000, smoke: 20 },
      keys: { max: 100_000, otherwise: 1000 },
    },
    switches: ['shared', 'smoke', 'json', 'save'],
  })
  const { milliseconds, keys: count } = flags
  const state = temporaryFolder('limiter')
  const limiter = await openLimiter(state, flags.shared)
  const bound = await bindKeys(limiter, state, count)
  const rows: Row[] = []
  for (const [name, operation] of Object.entries(operationsOf(bound))) {
    rows.push(await measureRow(name, operation, bound, milliseconds))
  }
  const report = {
    ...runHead(process.argv.slice(2)),
    kind: 'limit',
    keys: count,
    rows,
  } satisfies LimitReport
  showReport('limit', report, flags)
  await limiter.close()
  return rows.every(({ refused }) => refused === 0) ? 0 : 1
}

await runProgram(main)
