// A process that uses the store for many machines as a worker of a server does, for the tests that
// freeze and kill stores and nodes. It asks for rate and for quota in small portions all the time,
// until SIGTERM.
//
//   node-child.js SETTINGS LIMITS COUNTS INDEX PER_MS      the first two as JSON
//
// What it was granted stands in COUNTS, a shared file of 32-bit words that a kill cannot take back:
// `wordsOf` names its own. Troubles and recoveries are lines of standard output.

import { setTimeout as sleep } from 'node:timers/promises'
import type { EffectiveLimits } from '../../../../src/account/keys/key-limits.ts'
import { type StoresSettings, openStores } from '../../../../src/account/stores/open-stores.ts'
import { quotaResults } from '../../../../src/account/limits/quota.ts'
import { mapSharedFile } from '../../../../src/base/system/memory-map.ts'
import { keyRefreshMs } from '../../../../src/base/limits.ts'

const countsBytes = 4096
const wordsOf = {
  rate: 0,
  rateAway: 1,
  quota: 2,
  quotaAway: 3,
  stallMs: 4,
  leaseMax: 5,
  waiting: 6,
}
const wordsEach = 16

const [settingsText = '', limitsText = '', counts = '', index = '', perMs = ''] =
  process.argv.slice(2)
const settings = JSON.parse(settingsText) as StoresSettings
const words = new Int32Array(mapSharedFile(counts, countsBytes).bytes.buffer)
const at = (name: keyof typeof wordsOf): number => Number(index) * wordsEach + wordsOf[name]
const count = (name: keyof typeof wordsOf, by = 1): void => void Atomics.add(words, at(name), by)
const most = (name: keyof typeof wordsOf, value: number): void => {
  if (value > (words[at(name)] ?? 0)) words[at(name)] = value
}
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const account = await openStores(settings, {
  onTrouble: (error) => say(`trouble ${String(error)}`),
  onRecovery: () => say('recovery'),
})
const limiter = account.openLimiter()
const key = limiter.bind('the-key', JSON.parse(limitsText) as EffectiveLimits)
const told = { toEnd: false }
process.once('SIGTERM', () => (told.toEnd = true))
say('running')

function spend(arrivedMs: number): void {
  const result = limiter.spendQuota(key, 1, arrivedMs)
  if (result === quotaResults.granted) count('quota')
  else if (result === quotaResults.unavailable) count('quotaAway')
  else if (result === quotaResults.pending) {
    limiter.whenLeased(key, () => {
      most('waiting', Math.ceil(performance.now() - arrivedMs))
      spend(arrivedMs)
    })
  }
}

let tickMs = 0
while (!told.toEnd) {
  const now = performance.now()
  for (let i = 0; i < Number(perMs); i += 1) {
    const result = limiter.spendRate(key, 1, now)
    if (result === 0) count('rate')
    else if (result === 2) count('rateAway')
    spend(now)
  }
  most('stallMs', Math.ceil(performance.now() - now))
  most('leaseMax', key.lease.unitsAtGrant)
  if (now - tickMs > keyRefreshMs) {
    limiter.tick()
    tickMs = now
  }
  await sleep(1)
}
await account.close()
process.exit(0)
