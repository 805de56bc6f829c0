// Three nodes, one of them with two workers, as real processes on a real store that is frozen,
// killed and started again under load, while nodes are killed too. What they were granted is
// counted outside of them and held against the limits and the ledger.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sharedBucketSizes } from '../../../../src/account/limits/shared-bucket.ts'
import { createKey, revokeKey } from '../../../../src/account/keys/issue-key.ts'
import { createKeyring } from '../../../../src/account/keyring.ts'
import {
  type Stores,
  type StoresSettings,
  openStores,
} from '../../../../src/account/stores/open-stores.ts'
import { monthOf } from '../../../../src/account/limits/quota-period.ts'
import { mapSharedFile } from '../../../../src/base/system/memory-map.ts'
import type { Plan } from '../../../../src/config/plan.ts'
import {
  type StoreServer,
  describeStores,
  startStore,
  storeSettings,
} from '../../stores/redis/redis-servers.ts'
import { removeFolder } from '../../../remove-folder.ts'

const child = fileURLToPath(
  new URL('../../../../dist/test/account/limits/machines/node-child.js', import.meta.url),
)
const countsBytes = 4096
const wordsEach = 16
const wordAt = { rate: 0, rateAway: 1, quota: 2, quotaAway: 3, stallMs: 4, leaseMax: 5, waiting: 6 }
/** Which node each process belongs to. */
const places = [0, 0, 1, 2]
const nodes = 3
const rate = { perSecond: 400, burst: 400 }
const quotaPerMonth = 2_000_000
const team: Plan = { name: 'team', apis: ['ip-risk'], insights: 'never' }

let folder = ''
let server: StoreServer
let children: { readonly process: ChildProcess; readonly lines: string[] }[] = []
let words: Int32Array = new Int32Array(0)
let accounts: Stores[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-nodes-'))
  for (const node of new Set(places)) mkdirSync(join(folder, String(node)))
  const counts = join(folder, 'counts')
  writeFileSync(counts, Buffer.alloc(countsBytes))
  words = new Int32Array(mapSharedFile(counts, countsBytes).bytes.buffer)
  server = await startStore(['--appendonly', 'yes', '--appendfsync', 'always'])
})
afterEach(async () => {
  for (const { process } of children) process.kill('SIGKILL')
  for (const account of accounts) await account.close()
  children = []
  accounts = []
  server.thaw()
  await server.end()
  removeFolder(folder)
})

function settingsOf(node: number, policy: 'serve' | 'refuse' = 'refuse'): StoresSettings {
  return { state: join(folder, String(node)), store: storeSettings(server.url, { policy }) }
}

async function start(index: number, policy: 'serve' | 'refuse'): Promise<void> {
  const settings = JSON.stringify(settingsOf(places[index] ?? 0, policy))
  const limits = JSON.stringify({ rate, quotaPerMonth })
  const args = [child, settings, limits, join(folder, 'counts'), String(index), '2']
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = children[index]?.lines ?? []
  children[index] = { process: started, lines }
  await new Promise<void>((resolve) => {
    started.stdout?.on('data', (chunk: Buffer) => {
      lines.push(...chunk.toString().trim().split('\n'))
      if (lines.includes('running')) resolve()
    })
  })
}

async function stop(index: number, signal: NodeJS.Signals): Promise<void> {
  const one = children[index]?.process
  const ended = new Promise((resolve) => one?.once('close', resolve))
  one?.kill(signal)
  await ended
}

const total = (name: keyof typeof wordAt): number =>
  places.reduce((sum, _, index) => sum + (words[index * wordsEach + wordAt[name]] ?? 0), 0)
const largest = (name: keyof typeof wordAt): number =>
  Math.max(...places.map((_, index) => words[index * wordsEach + wordAt[name]] ?? 0))
const said = (index: number, what: string): number =>
  (children[index]?.lines ?? []).filter((line) => line.startsWith(what)).length

/** Milliseconds until every process is granted quota and rate again. */
async function recovery(): Promise<number> {
  const fromMs = performance.now()
  const before = places.map((_, index) =>
    Array.from(words.subarray(index * wordsEach, index * wordsEach + 3)),
  )
  const risen = (index: number, name: 'rate' | 'quota'): boolean =>
    (words[index * wordsEach + wordAt[name]] ?? 0) > (before[index]?.[wordAt[name]] ?? 0) + 5
  while (performance.now() - fromMs < 10_000) {
    if (places.every((_, index) => risen(index, 'rate') && risen(index, 'quota'))) break
    await sleep(5)
  }
  return performance.now() - fromMs
}

async function usage(): Promise<number> {
  const account = await openStores(settingsOf(0), {
    onTrouble: () => undefined,
    onRecovery: () => undefined,
  })
  const taken = (await account.ledger.usage(monthOf(Date.now()))).get('the-key') ?? 0
  await account.close()
  return taken
}

describeStores('three nodes on one store', () => {
  it('keep their limits while it is frozen, killed and started again', async () => {
    const fromMs = performance.now()
    await Promise.all(places.map((_, index) => start(index, 'refuse')))
    await sleep(1000)

    const steadyMs = performance.now()
    const steadyBefore = total('rate')
    await sleep(3000)
    const steady = total('rate') - steadyBefore
    const steadyRate = steady / ((performance.now() - steadyMs) / 1000)

    server.freeze()
    await sleep(2500)
    const frozenAway = total('rateAway')
    const frozenGranted = total('rate')
    await sleep(500)
    expect(total('rate') - frozenGranted).toBe(0)
    expect(total('rateAway')).toBeGreaterThan(frozenAway)
    server.thaw()
    const thawed = await recovery()

    await stop(3, 'SIGKILL')
    await start(3, 'refuse')
    await sleep(500)
    await server.kill()
    await sleep(1500)
    await server.start()
    const restarted = await recovery()
    await stop(0, 'SIGKILL')
    await start(0, 'refuse')
    await sleep(1000)

    await Promise.all(places.map((_, index) => stop(index, 'SIGTERM')))
    const seconds = (performance.now() - fromMs) / 1000
    const [granted, taken, lease] = [total('quota'), await usage(), largest('leaseMax')]
    process.stderr.write(
      `steady ${steadyRate.toFixed(0)}/s of ${rate.perSecond}; back ${thawed.toFixed(0)} ms after ` +
        `the freeze, ${restarted.toFixed(0)} ms after the kill; quota ${granted} granted, ${taken} ` +
        `taken; stall ${largest('stallMs')} ms, wait ${largest('waiting')} ms, lease ${lease}\n`,
    )
    expect(steadyRate).toBeGreaterThan(0.95 * rate.perSecond)
    const most = rate.burst + rate.perSecond * seconds + nodes * sharedBucketSizes(rate).lease
    expect(total('rate')).toBeLessThanOrEqual(most)
    expect(thawed).toBeLessThan(2000)
    expect(restarted).toBeLessThan(2000)
    // No quota that is not in the store; and what a kill or an outage loses is its lease.
    expect(granted).toBeLessThanOrEqual(taken)
    expect(taken).toBeLessThanOrEqual(quotaPerMonth)
    expect(taken - granted).toBeLessThanOrEqual((2 + 2 * places.length) * (lease + 1))
    for (const index of [1, 2]) {
      expect([said(index, 'trouble'), said(index, 'recovery')]).toEqual([2, 2])
    }
    // The hot path asks nobody: a turn of it is far shorter than the store's time.
    expect(largest('stallMs')).toBeLessThan(250)
    // A request that has no lease waits for the store's time at the most.
    expect(largest('waiting')).toBeLessThan(600)
  })

  it('serve by their own limits, where the policy says so, and have it charged', async () => {
    await Promise.all(places.map((_, index) => start(index, 'serve')))
    await sleep(1500)
    server.freeze()
    await sleep(1500)
    const [rateBefore, quotaBefore] = [total('rate'), total('quota')]
    await sleep(2000)
    const [rateAway, quotaAway] = [total('rate') - rateBefore, total('quota') - quotaBefore]
    // Every node has the whole rate for itself.
    expect(rateAway).toBeGreaterThan(0.9 * 2 * rate.perSecond * nodes)
    expect(rateAway).toBeLessThan(1.2 * 2 * rate.perSecond * nodes)
    expect(quotaAway).toBeGreaterThan(1000)
    expect([total('rateAway'), total('quotaAway')]).toEqual([0, 0])
    server.thaw()
    expect(await recovery()).toBeLessThan(2000)
    await sleep(1000)
    await Promise.all(places.map((_, index) => stop(index, 'SIGTERM')))
    const [granted, taken] = [total('quota'), await usage()]
    expect(granted).toBeLessThanOrEqual(taken)
    expect(taken - granted).toBeLessThanOrEqual(places.length * (largest('leaseMax') + 1))
  })

  it('learn of a new key and of a revoked one within five seconds, also after an outage', async () => {
    const hooks = { onTrouble: () => undefined, onRecovery: () => undefined }
    const [here, there] = await Promise.all([
      openStores(settingsOf(0), hooks),
      openStores(settingsOf(1), hooks),
    ])
    accounts = [here, there]
    const keyring = createKeyring({
      limiter: there.openLimiter(),
      store: there.keyStore,
      plans: { team },
    })
    const learned = async (text: string, kind: string): Promise<number> => {
      const fromMs = performance.now()
      while (performance.now() - fromMs < 10_000) {
        await keyring.refresh(Date.now()).catch(() => undefined)
        if (keyring.authenticate(`Bearer ${text}`).kind === kind) break
        await sleep(200)
      }
      return performance.now() - fromMs
    }
    const made = await createKey(
      here.keyStore,
      { name: 'a', plan: 'team', apis: ['ip-risk'] },
      Date.now(),
    )
    expect(await learned(made.text, 'authenticated')).toBeLessThan(1000)
    server.freeze()
    await sleep(1500)
    expect(keyring.authenticate(`Bearer ${made.text}`).kind).toBe('authenticated')
    server.thaw()
    await sleep(1000)
    await revokeKey(here.keyStore, made.record.id, Date.now())
    expect(await learned(made.text, 'denied')).toBeLessThan(1000)
  })
})
