// A process that uses limits as a worker does, for the tests that start and kill several of them.
//
//   worker-child.js rate  STATE COUNTS PER_SECOND BURST UNTIL_MS     as fast as it can
//   worker-child.js quota STATE COUNTS QUOTA INDEX                   until SIGTERM, or SIGKILL
//
// What it was granted stands in COUNTS, a shared file of 32-bit words that a kill cannot take back:
// for `quota` its own word 2 × INDEX, and beside it the size of its present lease: what is left of
// it and what is under way are at most that, so it is what a kill may lose just now.

import { setTimeout as sleep } from 'node:timers/promises'
import { bootId, machineOffsetMs } from '../../../src/base/system/clock.ts'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { type Limiter, createLimiter } from '../../../src/account/limits/limiter.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { quotaResults } from '../../../src/account/limits/quota.ts'
import { openLeaseFile } from '../../../src/account/limits/lease-file.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'

const countsBytes = 4096
const [mode = '', state = '', counts = '', ...rest] = process.argv.slice(2)
const numbers = rest.map(Number)

async function openLimiter(): Promise<Limiter> {
  return createLimiter({
    rateFile: openRateFile(state, { boot: bootId() }),
    leaseFile: openLeaseFile(state, { boot: bootId() }),
    ledger: createQuotaLedger(await openLmdbCounterStore(state)),
    machineOffsetMs: machineOffsetMs(),
    now: () => performance.now(),
    wall: () => Date.now(),
    onTrouble: (error) => process.stderr.write(`${String(error)}\n`),
    onRecovery: () => undefined,
  })
}

/** Says when it began and when it ended, on the machine's clock, and what it was granted. */
async function hammerRate(limiter: Limiter): Promise<void> {
  const [perSecond = 0, burst = 0, untilMs = 0] = numbers
  const offset = machineOffsetMs()
  const key = limiter.bind('the-key', { rate: { perSecond, burst } })
  let granted = 0
  let asked = 0
  const firstMs = performance.now() + offset
  let lastMs = firstMs
  while (lastMs < untilMs) {
    const now = performance.now()
    lastMs = now + offset
    for (let i = 0; i < 10; i += 1) if (limiter.spendRate(key, 1, now) === 0) granted += 1
    asked += 10
  }
  await limiter.close()
  process.stdout.write(JSON.stringify({ firstMs, lastMs, granted, asked }))
}

async function hammerQuota(limiter: Limiter, words: Int32Array): Promise<void> {
  const [quotaPerMonth = 0, index = 0] = numbers
  const key = limiter.bind('the-key', { quotaPerMonth })
  const told = { toEnd: false }
  process.once('SIGTERM', () => (told.toEnd = true))
  process.stdout.write('running\n')
  let tickMs = 0
  const ask = (arrivedMs: number): void => {
    const result = limiter.spendQuota(key, 1, arrivedMs)
    words[index * 2 + 1] = key.lease.size
    if (result === quotaResults.granted) Atomics.add(words, index * 2, 1)
    else if (result === quotaResults.pending) limiter.whenLeased(key, () => ask(arrivedMs))
  }
  while (!told.toEnd) {
    const now = performance.now()
    for (let i = 0; i < 50; i += 1) ask(now)
    if (now - tickMs > 200) {
      limiter.tick()
      tickMs = now
    }
    await sleep(1)
  }
  await limiter.close()
  process.exit(0)
}

const limiter = await openLimiter()
if (mode === 'rate') await hammerRate(limiter)
else await hammerQuota(limiter, new Int32Array(mapSharedFile(counts, countsBytes).bytes.buffer))
