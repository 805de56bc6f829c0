// The verdict of a past day on a real admin port: computed by a child that builds that day's table,
// one at a time, for analysts; where it cannot be built, the answer says why and what to do.

import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PastDay, RunView } from '../../src/api/admin-answers.ts'
import { acquireFileLock } from '../../src/base/system/file-lock.ts'
import { before, writeListedDays } from '../build/history/listed-days.ts'
import { eventually } from '../eventually.ts'
import { type Server, newState, startServer } from '../serve/server.ts'
import { newTable } from '../serve/small-tables.ts'
import { type Ask, adminClient } from './console-client.ts'

const tokens = { analyst: 'b'.repeat(32), viewer: 'c'.repeat(32) } as const
const path = '/admin/past-days'

let server: Server
let ask: Ask
let history: string

beforeAll(async () => {
  const folder = newState()
  history = join(folder, 'data/history')
  const people = join(folder, 'tokens')
  const lines = [`viewer wall ${tokens.viewer}`, `analyst maria ${tokens.analyst}`]
  writeFileSync(people, lines.join('\n'), { mode: 0o600 })
  const args = ['--config', await writeListedDays(folder), '--admin-tokens-file', people]
  server = await startServer({ table: newTable(), args })
  ask = adminClient(server.adminPort)
}, 120_000)
afterAll(() => server.stop('SIGKILL'))

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })
const headers = headersOf(tokens.analyst)
const begin = (ip: string, day: string) => ask('POST', path, { headers, body: { ip, day } })

async function endOf({ value }: Awaited<ReturnType<Ask>>): Promise<RunView<PastDay>> {
  const { id } = value as { readonly id: string }
  return eventually(async () => {
    const { value: view } = await ask('GET', `${path}/${id}`, { headers })
    return (view as RunView<PastDay>).status === 'running' ? undefined : view
  }, 120_000)
}

it('judges by the lists of the day, one verdict at a time, and names what has no day', async () => {
  const begun = await begin('11.1.0.2', before(9))
  expect([begun.status, begun.value.status]).toEqual([202, 'running'])
  const other = await begin('11.1.0.3', before(9))
  expect([other.status, other.value.error.code]).toEqual([409, 'past_day_running'])
  const { status, report } = await endOf(begun)
  expect([status, report?.insights.table.as_of]).toEqual(['done', before(9)])
  expect(report?.classification).toBe('vpn')
  expect(report?.network?.asn).toBe(16276)
  expect(report?.insights.evidence.map(({ feed }) => feed)).toContain('vpn-mullvad')
  expect(report?.left_out).toContain('tor-exits-onionoo')
  // Its server was listed a day later; the table is kept.
  const [kept] = readdirSync(join(history, '.past'))
  const next = await endOf(await begin('11.1.0.3', before(9)))
  expect(next).toMatchObject({ status: 'done' })
  const later = next.report
  expect(later?.insights.evidence.map(({ feed }) => feed)).not.toContain('vpn-mullvad')
  expect(readdirSync(join(history, '.past'))).toEqual([kept])
}, 240_000)

it.each([
  ['11.1.0.2', before(11), `has days from ${before(10)} to today; ${before(11)} is not`],
  ['11.1.0.2', before(-1), `${before(-1)} is not one of them`],
])('says which days there are, instead of %s on %s', async (ip, day, why) => {
  const { status, message } = await endOf(await begin(ip, day))
  expect([status, message]).toEqual(['failed', expect.stringContaining(why)])
  expect(message).not.toContain('iprisk: ')
})

it.each([
  ['11.1.0.2', '2026-02-30', 'day must be a day as YYYY-MM-DD.'],
  ['--help', before(9), 'ip must be an address.'],
  ['-', before(9), 'ip must be an address.'],
])('refuses %s on %s at once', async (ip, day, why) => {
  const { status, value } = await begin(ip, day)
  expect([status, value.error]).toEqual([400, { code: 'invalid_input', message: why }])
})

it('is for analysts, and remembers only its own', async () => {
  const viewer = headersOf(tokens.viewer)
  const refused = await ask('POST', path, { headers: viewer, body: {} })
  expect([refused.status, refused.value.error.code]).toEqual([403, 'forbidden_role'])
  const { status, value } = await ask('GET', `${path}/none`, { headers })
  expect([status, value.error.code]).toEqual([404, 'past_day_unknown'])
})

it('says what to do while a build writes the history, and where there is none', async () => {
  const lock = acquireFileLock(join(history, '.lock'))
  const busy = await endOf(await begin('11.1.0.2', before(8)))
  expect(busy.message).toMatch(/Another run is writing the history in .*Wait for it/)
  lock?.release()
  renameSync(history, `${history}.gone`)
  mkdirSync(history)
  const missing = await endOf(await begin('11.1.0.2', before(8)))
  expect(missing.status).toBe('failed')
  expect(missing.message).toMatch(/There is no history in .*Run this where tables are built/)
})
