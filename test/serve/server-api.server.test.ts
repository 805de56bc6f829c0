// The administrative API of policies and tables on a real server.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { keyedState, newState, serversOfTests } from './server.ts'
import { newTable, replaceTable } from './small-tables.ts'

const start = serversOfTests()

const rule = (condition: string) => ({ name: 'tor', condition, action: 'block' })
const file = (condition = 'signals.tor') => ({
  policies: { default: { rules: [rule(condition)], otherwise: 'allow' } },
})

it('shows and checks policies; shows, takes in and takes back tables', async () => {
  const { state } = await keyedState()
  const policies = join(newState(), 'policies.json')
  writeFileSync(policies, JSON.stringify(file()), { mode: 0o644 })
  const table = newTable()
  const server = await start({ table, state, args: ['--policies', policies] })
  const ask = async (method: string, path: string, body?: object) => {
    const url = `http://127.0.0.1:${server.adminPort}/admin${path}`
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url, { method, ...text })
    return { status: response.status, value: (await response.json()) as Record<string, unknown> }
  }
  const live = await ask('GET', '/policies')
  expect(live).toMatchObject({
    status: 200,
    value: {
      status: { path: policies, names: ['default'], last_failure: null },
      policies: { default: { rules: [{ name: 'tor', observe: false }], otherwise: 'allow' } },
    },
  })
  const { revision } = live.value['status'] as { readonly revision: string }
  // What it shows can be checked, changed and written.
  const shown = { policies: live.value['policies'] }
  expect((await ask('POST', '/policies/check', shown)).value).toEqual({
    revision,
    names: ['default'],
    mistakes: [],
  })
  const wrong = await ask('POST', '/policies/check', file('signals.tot'))
  expect(wrong).toMatchObject({ status: 200, value: { revision: null, names: [] } })
  expect(wrong.value['mistakes']).toEqual([
    expect.stringContaining('rules[0] (tor).condition, column 1: signals has no member tot'),
  ])

  const before = (await ask('GET', '/table')).value
  expect(before).toMatchObject({
    table: { path: table, as_of: '2026-08-22' },
    tables: { swaps: 0, previous: null },
  })
  const { id } = before['table'] as { readonly id: string }
  expect(await ask('POST', '/table/rollback')).toMatchObject({
    status: 409,
    value: { error: { code: 'table_refused' } },
  })
  expect((await ask('POST', '/table/reload', {})).value).toEqual({ kind: 'unchanged', table: id })
  replaceTable(table, '2026-08-23')
  expect((await ask('POST', '/table/reload', { force: true })).status).toBe(200)
  expect((await ask('GET', '/table')).value).toMatchObject({ table: { as_of: '2026-08-23' } })
  expect((await ask('POST', '/table/rollback')).value).toEqual({ kind: 'swapped', table: id })
  expect((await ask('POST', '/table/reload', { force: 'yes' })).status).toBe(400)
  expect((await ask('GET', '/table/reload')).status).toBe(405)
}, 120_000)
