// A worker whose store finds no room: keys with a quota get 503 and others 200, and /readyz,
// /status, the metric and the log say so. A limit of file sizes (EFBIG) stands for the full disk.

import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { check } from './checks.ts'
import { keyedState, makeKey, serversOfTests, workersOf } from './server.ts'

const start = serversOfTests()

it('is ready for keys without a quota, and says that the store is down', async () => {
  const { state, key } = await keyedState()
  const counted = await makeKey(state, { limits: { quotaPerMonth: 1_000_000 } })
  const server = await start({ table: writeSmallTable(), state })
  const ready = async (): Promise<object> =>
    JSON.parse((await server.admin('/readyz')).text) as object
  expect(await ready()).not.toHaveProperty('store')
  const limitFiles = (bytes: number | 'unlimited'): void => {
    for (const pid of workersOf(server)) {
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
    }
  }
  limitFiles(1)
  await eventually(async () => (await check(server.port, counted)) === 503)
  expect(await check(server.port, key)).toBe(200)
  await eventually(async () => 'store' in (await ready()))
  const { status, text } = await server.admin('/readyz')
  expect([status, JSON.parse(text)]).toMatchObject([200, { status: 'ready', store: 'down' }])
  expect(JSON.parse((await server.admin('/status')).text)).toMatchObject({ store: { up: false } })
  expect(await server.metric('iprisk_store_up')).toBe(0)
  expect(server.stderr()).toMatch(
    /store of keys and quotas is unreachable.* The disk failed: File too/,
  )
  limitFiles('unlimited')
  await eventually(async () => (await check(server.port, counted)) === 200)
  await eventually(async () => !('store' in (await ready())))
  expect(server.stderr()).toContain('The store of keys and quotas is reachable again')
})
