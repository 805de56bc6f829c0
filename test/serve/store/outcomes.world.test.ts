// Outcomes over several machines with a real redis-server: the script counts as the slow twin does,
// what two machines hear of an address is one count, and outcomes wait for a store that is away.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStores, silentHooks } from '../../../src/account/stores/open-stores.ts'
import {
  describeStores,
  startStore,
  type StoreServer,
  storeSettings,
} from '../../account/stores/redis/redis-servers.ts'
import { runProgram } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { plainWindows, randomOutcomes } from '../../feedback/plain-windows.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { abuse, check, legitimate, listsOf, report, until } from '../lists/report-outcomes.ts'
import { newState, serversOfTests } from '../server.ts'

const table = writeSmallTable()
let store: StoreServer
const start = serversOfTests()

describeStores('outcomes on many machines', () => {
  beforeAll(async () => {
    store = await startStore(['--appendonly', 'yes'])
  })
  afterAll(() => store.end())

  it.each([1, 2, 3])('stand as the slow twin counts them (seed %i)', async (seed) => {
    await store.cli('flushall')
    const settings = { state: newState(), store: storeSettings(store.url, { timeoutMs: 10_000 }) }
    const stores = await openStores(settings, silentHooks)
    const windows = stores.outcomeWindows!
    const plain = plainWindows()
    let entered = 0
    for (const { visitor, outcome } of randomOutcomes(seed, 1500)) {
      const stands = await windows.count(visitor, outcome)
      expect(stands).toEqual(plain.count(visitor, outcome))
      expect(await windows.count(visitor, outcome)).toEqual(stands)
      entered += Number(stands.abusive === 5)
    }
    await stores.close()
    expect(entered).toBeGreaterThan(50)
    // At most five requests and one instant of an address, for a day.
    const names = (await store.cli('keys', 'iprisk:{192.0.2.*')).split('\n')
    expect(names.length).toBeLessThanOrEqual(8)
    for (const name of names) {
      expect(Number(await store.cli('pttl', name))).toBeGreaterThan(0)
      const size = name.endsWith('abusive') ? await store.cli('zcard', name) : '1'
      expect(Number(size)).toBeLessThan(6)
    }
  })

  it('are one count for all, and wait while the store is away', async () => {
    await store.cli('flushall')
    const options = ['--store', store.url, '--state', newState()]
    const made = ['keys', 'create', '--json', '--plan', 'internal', ...options]
    const { out } = await runProgram(made, { cwd: newState() })
    const { key } = JSON.parse(out) as { readonly key: string }
    const patience = ['--store-timeout-ms', '1000']
    const args = ['--feedback-lists', '--store', store.url, ...patience]
    const [state, other] = [newState(), newState()]
    const machines = [
      { ...(await start({ table, state, args })), key },
      { ...(await start({ table, state: other, args })), key },
    ] as const
    const [first, second] = machines
    const ip = '9.1.1.1'
    const rows = abuse(ip)
    // The same request on both machines is one.
    expect(await report(first, rows.slice(0, 3))).toBe(202)
    expect(await report(second, [...rows.slice(2), ...abuse('9.1.1.2', 4)])).toBe(202)
    for (const one of machines) await until(one, ip, ['reported'])
    expect(await listsOf(first, '9.1.1.2')).toEqual([])
    await report(first, [legitimate(ip)])
    for (const one of machines) await until(one, ip, [])
    await report(second, [...abuse(ip), ...abuse('9.1.1.2', 1)])
    for (const one of machines) await until(one, '9.1.1.2', ['reported'])
    expect(await listsOf(second, ip)).toEqual([])
    // Accepted on one machine while the store is frozen; then that machine is killed.
    store.freeze()
    expect(await report(first, abuse('9.1.1.3', 3))).toBe(202)
    await eventually(() => /Outcomes are queued/.test(first.stderr()))
    await first.stop('SIGKILL')
    store.thaw()
    await eventually(async () => (await check(second, ip)).lists === undefined)
    await report(second, abuse('9.1.1.3', 2))
    const again = { ...(await start({ table, state, args })), key }
    for (const one of [again, second]) await until(one, '9.1.1.3', ['reported'])
  }, 180_000)
})
