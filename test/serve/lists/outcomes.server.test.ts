// Outcomes fill own lists of a real server (contract 6.11): five distinct abusive ones challenge the
// next login, a legitimate one ends that, and guards hold.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openLmdbListStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { readAuditLog } from '../../../src/audit/audit-log.ts'
import { createList } from '../../../src/lists/change-lists.ts'
import { defaultPoliciesText } from '../../../src/policy/default-policies.ts'
import { runHere } from '../../cli/program.ts'
import { adminClient } from '../../console/console-client.ts'
import { eventually } from '../../eventually.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { keyedState, makeKey, newState, type Server, serversOfTests, sleep } from '../server.ts'
import { abuse, check, legitimate, listsOf, report, until } from './report-outcomes.ts'
import { runLists } from './run-lists.ts'

const start = serversOfTests()
const table = writeSmallTable()
const on = ['--feedback-lists']

const here = (args: readonly string[]) => runHere(args, { cwd: newState() })

/** The server counts an act a moment after it is in effect. */
const counted = ({ metric }: Pick<Server, 'metric'>, counts: Readonly<Record<string, number>>) =>
  eventually(async () => {
    const name = 'iprisk_reported_addresses_total'
    const found = Object.entries(counts).map(
      async ([of, count]) => (await metric(name, of)) === count,
    )
    return (await Promise.all(found)).every(Boolean)
  }, 20_000)

describe('reported addresses', () => {
  it('are challenged by the default policy until one login turns out legitimate', async () => {
    const policies = join(newState(), 'policies.json')
    writeFileSync(policies, defaultPoliciesText({ observe: false }))
    const { state, key } = await keyedState()
    const server = await start({ table, state, args: [...on, '--policies', policies] })
    const known = { ...server, key }
    const ip = '9.1.1.1'
    const before = await check(known, ip)
    expect(before.decision?.action).toBe('allow')
    // One request reported five times is one.
    const [first = {}, ...others] = abuse(ip)
    expect(await report(known, [first, first, first, first, first])).toBe(202)
    expect(await report(known, others.slice(0, 3))).toBe(202)
    await sleep(1500)
    expect(await listsOf(known, ip)).toEqual([])
    await report(known, others)
    await until(known, ip, ['reported'])
    const { decision, risk_score } = await check(known, ip)
    expect(decision).toMatchObject({ action: 'challenge', rule: 'reported-here' })
    expect(risk_score).toBe(before.risk_score)
    const shown = JSON.parse(await runLists(runHere, state, ['show', 'reported', '--json']))
    const [{ entry, added, expires, note }] = shown.shown
    expect(entry).toBe(ip)
    expect(Date.parse(expires) - Date.parse(added)).toBe(7 * 86_400_000)
    expect(note).toMatch(/^5 abusive outcomes since \S+Z, the last by key \w+$/)
    const screen = await here(['explain', ip, '--table', table, '--lists', state])
    expect(screen.out).toMatch(/reported: 9\.1\.1\.1 since \S+Z until \S+Z, 5 abusive outcomes/)
    const log = join(newState(), 'access.log')
    writeFileSync(log, `${ip}\n9.1.1.9\n`)
    const how = ['--table', table, '--lists', state, '--policies', policies, '--json']
    const rehearsed = await here(['policy', 'test', log, ...how])
    expect(rehearsed.out).toContain('"reported-here"')
    expect(rehearsed.err).not.toMatch(/warn/i)
    await report(known, [legitimate(ip)])
    await until(known, ip, [])
    // Kept out for a day, whatever is reported.
    await report(known, [...abuse(ip), ...abuse('9.1.1.2')])
    await until(known, '9.1.1.2', ['reported'])
    expect(await listsOf(known, ip)).toEqual([])
    const { entries } = await readAuditLog(state, 10)
    const acts = entries.map(({ act, via, list, result }) => `${act} ${list} ${via}: ${result}`)
    expect(acts).toEqual(
      ['create', 'import', 'remove', 'import'].map(
        (act) => `lists ${act} reported server as outcomes: done`,
      ),
    )
    await counted(server, { entered: 2, left: 1 })
  }, 120_000)

  it('count in a rehearsal of the console', async () => {
    const { state, key } = await keyedState()
    const token = 'a-token-of-an-operator-0123456789ab'
    const file = join(newState(), 'token')
    writeFileSync(file, token, { mode: 0o600 })
    const server = await start({ table, state, args: [...on, '--admin-token-file', file] })
    const known = { ...server, key }
    await report(known, abuse('9.1.1.1'))
    await until(known, '9.1.1.1', ['reported'])
    const ask = adminClient(server.adminPort)
    const headers = { authorization: `Bearer ${token}` }
    const { policies } = JSON.parse(defaultPoliciesText({ observe: false })) as { policies: object }
    const body = { policies, log: '9.1.1.1\n9.1.1.9\n' }
    const begun = await ask('POST', '/admin/rehearsals', { headers, body })
    const done = await eventually(async () => {
      const { value } = await ask('GET', `/admin/rehearsals/${begun.value.id}`, { headers })
      return value.status === 'running' ? undefined : value
    })
    expect(done).toMatchObject({
      status: 'done',
      report: {
        requests: 2,
        rules: expect.arrayContaining([
          expect.objectContaining({ rule: 'reported-here', requests: 1 }),
        ]),
      },
    })
  }, 60_000)

  it('are apart in shared networks; bogons and allowed ones are none; an IPv6 line is one', async () => {
    const { state, key } = await keyedState()
    await runLists(runHere, state, ['create', 'office', '--effect', 'allow'])
    await runLists(runHere, state, ['add', 'office', '9.2.0.0/24'])
    const known = { ...(await start({ table, state, args: on })), key }
    const line = [1, 2, 3, 4, 5].map((i) => abuse(`2a00:9:9:9::${i}`, 1)[0]!)
    const reported = ['12.0.0.9', '9.77.0.1', '192.168.0.1', '9.2.0.1', '::ffff:9.3.0.1', '9.4.0.1']
    await report(known, [...line, ...reported.flatMap((ip) => abuse(ip))])
    await until(known, '9.77.0.1', ['reported-shared'])
    const expected = {
      '12.0.0.9': 'reported-shared',
      '9.77.0.1': 'reported-shared',
      '192.168.0.1': '',
      '9.2.0.1': 'office',
      '9.3.0.1': 'reported',
      '2a00:9:9:9:ffff::': 'reported',
      '2a00:9:9:8::1': '',
    }
    const found = Object.keys(expected).map(async (ip) => [ip, String(await listsOf(known, ip))])
    expect(Object.fromEntries(await Promise.all(found))).toEqual(expected)
    await counted(known, { entered: 5 })
  }, 120_000)

  it('are a thousand new ones a key and hour; the log and a metric say what is refused', async () => {
    const { state, key } = await keyedState()
    const other = await makeKey(state)
    const known = { ...(await start({ table, state, args: on })), key }
    const all = Array.from({ length: 1003 }, (_, i) => `9.8.${i >> 8}.${i & 255}`)
    for (let at = 0; at < all.length; at += 200)
      await report(
        known,
        all.slice(at, at + 200).flatMap((ip) => abuse(ip)),
      )
    await counted(known, { entered: 1000, over_key: 3 })
    expect(known.stderr()).toMatch(/Outcomes exceed a limit/)
    // What stands against an address stands for every key.
    await report({ ...known, key: other }, abuse(all[1002]!, 1))
    await until(known, all[1002]!, ['reported'])
    await counted(known, { entered: 1001 })
  }, 120_000)

  it('are not entered in a list with an effect, and the log says why', async () => {
    const { state, key } = await keyedState()
    const block = ['lists', 'create', 'reported', '--effect', 'block', '--state', state]
    const refused = await here(block)
    expect(refused.err).toContain('Outcomes fill the list reported, so its effect is none')
    // As an older version made it.
    const store = await openLmdbListStore(state)
    await createList({ store, now: Date.now() }, { name: 'reported', effect: 'none' })
    const { tag, text } = await store.catalogue()
    await store.replace(tag, text.replaceAll('"effect":"none"', '"effect":"block"'))
    await store.close()
    const known = { ...(await start({ table, state, args: on })), key }
    await report(known, abuse('9.5.0.1'))
    await eventually(() =>
      /Outcomes are queued.*the effect none, but it has block/.test(known.stderr()),
    )
    expect((await check(known, '9.5.0.1')).risk_score).toBe(0)
    await runLists(runHere, state, ['delete', 'reported'])
    await until(known, '9.5.0.1', ['reported'])
  }, 120_000)
})
