// Keys of many machines as the command line sees them: the days of last use in a real store, and
// every command on keys with `--store`, from two machines' state folders.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreCircuitBreaker } from '../../src/account/stores/redis/store-circuit-breaker.ts'
import { createRedisLastUsedStore } from '../../src/account/stores/redis/redis-keys.ts'
import { openRedisConnection } from '../../src/account/stores/redis/redis-connection.ts'
import type { Day } from '../../src/base/day.ts'
import { newFolder, runProgram } from '../cli/program.ts'
import {
  describeStores,
  startStore,
  type StoreServer,
  storeSettings,
} from './stores/redis/redis-servers.ts'

describeStores('a store for many machines', () => {
  let server: StoreServer
  beforeAll(async () => {
    server = await startStore()
  })
  afterAll(() => server.end())

  it('keeps the latest day of each key, whoever writes first', async () => {
    const settings = storeSettings(server.url)
    const options = { timeoutMs: 1000, replicas: 0, onDown: () => undefined, onUp: () => undefined }
    const links = await Promise.all(
      [0, 1].map(() => openStoreCircuitBreaker(openRedisConnection(settings), options)),
    )
    const [one, other] = links.map(createRedisLastUsedStore)
    expect(await one?.days()).toEqual(new Map())
    const days = [7, 9, 8, 9, 3, 100] as Day[]
    await Promise.all(days.map(async (day, i) => (i % 2 === 0 ? one : other)?.note('a', day)))
    await other?.note('b', 5 as Day)
    const kept = new Map([
      ['a', 100],
      ['b', 5],
    ])
    expect(await one?.days()).toEqual(kept)
    await Promise.all(links.map((breaker) => breaker.close()))
  })

  it('takes every command on keys, from each machine', async () => {
    const [here, there] = [newFolder(), mkdtempSync(join(newFolder(), 'there-'))]
    const keys = (cwd: string, ...args: readonly string[]) =>
      runProgram(['keys', ...args, '--store', server.url], { cwd })
    const { id } = JSON.parse((await keys(here, 'create', '--plan', 'team', '--json')).out) as {
      id: string
    }
    expect(JSON.parse((await keys(there, 'show', id, '--json')).out)).toMatchObject({
      id,
      usage: { units_at_most: 0 },
      last_used: null,
    })
    expect((await keys(there, 'rotate', id)).code).toBe(0)
    const exported = await keys(here, 'export')
    writeFileSync(join(here, 'keys.json'), exported.out)
    const again = await keys(there, 'import', join(here, 'keys.json'), '--json')
    expect(JSON.parse(again.out)).toEqual({ created: 0, replaced: 0, unchanged: 1 })
    expect((await keys(here, 'revoke', id)).code).toBe(0)
    expect((await keys(there, 'list')).out).toContain('revoked')
    // Each machine has the audit log of what was done on it.
    expect((await keys(here, 'audit')).out).toContain('revoke')
    expect((await keys(there, 'audit')).out).not.toContain('revoke')
  })

  it('is told to be away, and then nothing is done', async () => {
    const cwd = newFolder()
    const args = ['keys', 'create', '--plan', 'team', '--store', 'redis://127.0.0.1:1']
    const { code, out, err } = await runProgram(args, { cwd })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('cannot be reached')
    const { out: audit } = await runProgram(['keys', 'audit', '--json'], { cwd })
    expect(JSON.parse(audit)).toMatchObject({ result: 'failed', code: 'store_unreachable' })
  })
})
