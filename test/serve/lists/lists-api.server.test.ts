// The administrative API of own lists on a real server: the verbs, their errors, the audit, and
// that the port's rules hold for it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeSmallTable } from '../../table/small-table.ts'
import { keyedState, serversOfTests } from '../server.ts'

const start = serversOfTests()

it('makes, fills, shows, undoes and removes lists; answers know them when it returns', async () => {
  const { state, key } = await keyedState()
  const server = await start({ table: writeSmallTable(), state, workers: 2 })
  const ask = async (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly value: Record<string, unknown> }> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const url = `http://127.0.0.1:${server.adminPort}/admin${path}`
    const response = await fetch(url, { method, headers, ...text })
    return { status: response.status, value: (await response.json()) as Record<string, unknown> }
  }
  const scores = async (ip: string): Promise<Set<number>> => {
    const found = Array.from({ length: 10 }, async () => {
      const url = `http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ ip }) })
      return ((await response.json()) as { risk_score: number }).risk_score
    })
    return new Set(await Promise.all(found))
  }
  expect(await ask('GET', '/lists')).toEqual({ status: 200, value: { lists: [] } })
  expect((await ask('POST', '/lists', { name: 'bad', effect: 'block' })).status).toBe(201)
  expect((await ask('POST', '/lists', { name: 'bad' })).status).toBe(409)
  const added = await ask('POST', '/lists/bad/entries', {
    entries: ['9.5.5.5', 'AS64497', '192.168.0.1'],
    for: '7d',
    note: 'from the console',
  })
  expect(added).toMatchObject({ status: 200, value: { added: 3, in_effect: true } })
  expect(added.value['cautions']).toHaveLength(1)
  expect(await scores('9.5.5.5')).toEqual(new Set([100]))
  const shown = await ask('GET', '/lists/bad?after=9.5.5.5')
  expect(shown.value).toMatchObject({ entries: 3, next: null })
  expect(JSON.stringify(shown.value['shown'])).not.toContain('9.5.5.5')
  await ask('DELETE', '/lists/bad/entries', { entries: ['9.5.5.5'] })
  expect(await scores('9.5.5.5')).not.toContain(100)
  await ask('POST', '/lists/bad/undo')
  expect(await scores('9.5.5.5')).toEqual(new Set([100]))
  const wrong = [
    [await ask('POST', '/lists/bad/entries', { entries: ['x'] }), 400, 'list_entry'],
    [await ask('POST', '/lists/bad/entries', { entries: ['8.0.0.0/6'] }), 400, 'list_wide'],
    [await ask('POST', '/lists/bad/entries', { entries: 'x' }), 400, 'invalid_input'],
    [await ask('POST', '/lists/bad/entries', { entries: [], fro: '7d' }), 400, 'invalid_input'],
    [await ask('GET', '/lists/other'), 404, 'list_unknown'],
    [await ask('GET', '/else'), 404, 'not_found'],
    [await ask('DELETE', '/lists'), 405, 'method_not_allowed'],
  ] as const
  for (const [{ status, value }, expected, code] of wrong) {
    expect([status, (value['error'] as { code: string }).code]).toEqual([expected, code])
  }
  const foreign = { origin: 'https://evil.example' }
  expect((await ask('POST', '/lists', { name: 'x' }, foreign)).status).toBe(403)
  const document = await ask('GET', '/openapi.json')
  expect(Object.keys(document.value['paths'] as object)).toContain('/admin/lists/{name}/entries')
  await ask('DELETE', '/lists/bad')
  expect(await ask('GET', '/lists')).toEqual({ status: 200, value: { lists: [] } })
  const log = readFileSync(join(state, 'audit.log'), 'utf8')
  expect(log).toContain('"via":"admin port"')
  expect(log).toContain('"act":"lists delete"')
}, 120_000)

it('takes in and gives out lists as lines of files, by pages', async () => {
  const { state } = await keyedState()
  const server = await start({ table: writeSmallTable(), state })
  const ask = async (method: string, path: string, body?: object) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const url = `http://127.0.0.1:${server.adminPort}/admin/lists${path}`
    const response = await fetch(url, { method, ...text })
    return { status: response.status, value: (await response.json()) as Record<string, unknown> }
  }
  const lines = ['9.5.0.0/24 2099-12-01T00:00:00Z # the partner’s office', '2a00::1', 'AS64496']
  await ask('POST', '', { name: 'office', effect: 'allow' })
  await ask('POST', '', { name: 'many' })
  const taken = await ask('POST', '/office/import', { lines: ['# ours', '', ...lines] })
  expect(taken).toMatchObject({ status: 200, value: { act: 'import', added: 3, in_effect: true } })
  const exported = await ask('GET', '/office/export')
  expect(new Set(exported.value['lines'] as readonly string[])).toEqual(new Set(lines))
  expect(exported.value['next']).toBe(null)
  // What is exported is imported; with `replace` nothing else stays.
  await ask('POST', '/office/entries', { entries: ['9.6.6.6'] })
  const again = await ask('POST', '/office/import', { ...exported.value, replace: true })
  expect(again.value).toMatchObject({ removed: 1 })
  await ask('POST', '/undo')
  expect((await ask('GET', '/office')).value).toMatchObject({ entries: 4 })

  // A preview changes nothing, and says what would need force.
  const ipset = ['create x hash:net', 'add x 9.0.0.0/6', 'add x 9.5.0.5/24', 'nonsense']
  const would = await ask('POST', '/many/import', { lines: ipset, replace: true, preview: true })
  expect(would.value).toMatchObject({
    act: 'preview',
    added: 2,
    removed: 0,
    in_effect: false,
    preview: {
      entries: 2,
      needs_force: true,
      lines: [
        'lines, read as ipset: 2 entries, the widest 8.0.0.0/6',
        '2 overlap with office (effect allow)',
      ],
    },
  })
  expect((await ask('GET', '/many')).value).toMatchObject({ entries: 0 })

  const all = Array.from({ length: 15_000 }, (_, i) => `9.7.${i >> 8}.${i & 255}`)
  for (const from of [0, 7500]) {
    await ask('POST', '/many/import', { lines: all.slice(from, from + 7500) })
  }
  const first = await ask('GET', '/many/export')
  const rest = await ask('GET', `/many/export?after=${String(first.value['next'])}`)
  const given = [first, rest].map(({ value }) => value['lines'] as readonly string[])
  expect(given.map(({ length }) => length)).toEqual([10_000, 5000])
  expect(given.flat()).toEqual(all)
  expect(rest.value['next']).toBe(null)

  const wrong = [
    [{ lines: ['9.5.5.5', 'x'] }, 'lists_file', 'lines:2'],
    [{ lines: ['9.5.5.5 2027-02-31T00:00:00Z'] }, 'lists_file', 'is not a time'],
    [{ lines: ['{"list":"many","entry":"9.5.5.5","expire":"7d"}'] }, 'lists_file', 'mean expires?'],
    [{ lines: ['8.0.0.0/6'] }, 'list_wide', '--force'],
    [{ lines: 'x' }, 'invalid_input', 'an array of strings'],
    [{ lines: [], replace: 1 }, 'invalid_input', 'replace'],
    [{ lines: Array.from({ length: 10_001 }, () => '9.1.1.1') }, 'invalid_input', 'at most'],
    [{ lines: ['{"list":"many","entry":"9.5.5.5"}'] }, 'invalid_input', 'not to many'],
  ] as const
  for (const [body, code, text] of wrong) {
    const { status, value } = await ask('POST', '/office/import', body)
    const error = value['error'] as { readonly code: string; readonly message: string }
    expect([status, error.code, error.message]).toEqual([400, code, expect.stringContaining(text)])
  }
  expect((await ask('GET', '/none/export')).status).toBe(404)
  expect((await ask('POST', '/none/import', { lines: ['9.1.1.1'] })).status).toBe(404)
}, 120_000)
