// A store for many machines that comes back without what it had: lost keys are reported, once for
// each loss, and lost units. The store is played behind the breaker's interface;
// redis-connection.world.test.ts has a real one.

import { expect, it } from 'vitest'
import { monthOf } from '../../../../src/account/limits/quota-period.ts'
import {
  changedKeysScript,
  returnUnitsScript,
} from '../../../../src/account/stores/redis/lua-scripts.ts'
import {
  createRedisKeyStore,
  createRedisQuotaLedger,
} from '../../../../src/account/stores/redis/redis-keys.ts'
import { storeAdvice } from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { record } from '../conformance.ts'

function emptyStore() {
  const contents = { stamp: 'first', keys: new Map<string, string>() }
  const breaker = {
    runScript: async (
      script: object,
      _names: unknown,
      [since = 0, stamp = '']: readonly unknown[] = [],
    ) => {
      expect(script).toBe(changedKeysScript)
      const version = contents.keys.size
      const isOther = stamp !== '' && stamp !== contents.stamp
      if (Number(since) > version || isOther) return [-1, '']
      const rows = [...contents.keys].slice(Number(since))
      return [version, version === 0 ? '' : contents.stamp, ...rows.flat()]
    },
    down: () => false,
    advice: async () => [],
    close: async () => undefined,
  }
  const add = (id: string, at: number): void =>
    void contents.keys.set(id, JSON.stringify({ ...record(at), id }))
  return { contents, breaker, add }
}

it('reports keys that the store has lost, once, and tells them as revoked', async () => {
  const { contents, breaker, add } = emptyStore()
  const troubles: string[] = []
  const store = createRedisKeyStore(breaker, ({ code, message }) => {
    troubles.push(`${code}: ${message}`)
  })
  const ids = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc']
  ids.forEach(add)
  const first = await store.changes(0)
  expect(first.records.map(({ id }) => id)).toEqual(ids)
  expect(troubles).toEqual([])

  contents.keys.clear()
  const second = await store.changes(first.version)
  expect(second.records.map(({ id, revokedAt }) => [id, revokedAt])).toEqual(
    ids.map((id) => [id, 0]),
  )
  expect(troubles).toEqual([expect.stringMatching(/^store_lost_keys: .*lost 3 keys.*has 0: .*401/)])
  const third = await store.changes(second.version)
  expect([third.records, troubles.length]).toEqual([[], 1])

  // One is made again, and lost: the others are not reported again.
  contents.stamp = 'second'
  add('aaaaaaaaaaaa', 9)
  const fourth = await store.changes(third.version)
  expect(fourth.records.map(({ id }) => id)).toContain('aaaaaaaaaaaa')
  contents.keys.clear()
  await store.changes(fourth.version)
  expect(troubles).toHaveLength(2)
  expect(troubles[1]).toContain('lost 1 key and still has')
})

it('reports units that come back to a store which never gave as many', async () => {
  const asked: unknown[] = []
  const replies = [0, 7, -1]
  const ledger = createRedisQuotaLedger({
    ...emptyStore().breaker,
    runScript: async (...call) => {
      asked.push(call.slice(0, 3))
      return replies[asked.length - 1]
    },
  })
  const august = monthOf(Date.UTC(2026, 7, 22))
  const back = (): Promise<void> => ledger.returnUnits('k', august, 5)
  expect([await back(), await back()]).toEqual([undefined, undefined])
  await expect(back()).rejects.toMatchObject({
    code: 'store_lost_units',
    message: expect.stringContaining('the key k than were leased'),
  })
  expect(asked).toEqual(replies.map(() => [returnUnitsScript, ['iprisk:{k}:quota:2026-08'], [5]]))
})

it('is warned of where the store writes nothing to disk', () => {
  expect(storeAdvice(['aof_enabled:0'], 0)).toEqual([
    expect.stringMatching(/loses keys, own lists and quota counts/),
  ])
})
