// The administrative API on a real server: roles, keys, policies, and what is asked of the
// console's process. The console's login: console-login.server.test.ts.

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, afterAll, expect, it } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import { eventually } from '../eventually.ts'
import { type Server, keyedState, makeKey, newState, startServer } from '../serve/server.ts'
import type { SetTrial, SetsView, NetworkView, TrafficView } from '../../src/api/admin-answers.ts'
import { newTable, replaceTable } from '../serve/small-tables.ts'
import { listed, smallContent, writeSmallTable } from '../table/small-table.ts'
import { type Ask, adminClient } from './console-client.ts'

const tokens = {
  admin: 'a'.repeat(32),
  analyst: 'b'.repeat(32),
  viewer: 'c'.repeat(32),
} as const

/** What a feed may call itself. */
const hostile = '</script><img src=x onerror=alert(1)>"&'

let server: Server
let ask: Ask
let state: string

let policies: string
let table: string

const published = { stopped: "decision.action == 'block'" }

const rule = (condition: string) => ({ name: 'tor', condition, action: 'block' })
const file = (condition = 'signals.tor') => ({
  policies: { default: { rules: [rule(condition)], otherwise: 'allow' } },
})

beforeAll(async () => {
  ;({ state } = await keyedState())
  const folder = newState()
  const [admin, more] = [join(folder, 'token'), join(folder, 'tokens')]
  writeFileSync(admin, `${tokens.admin}\n`, { mode: 0o600 })
  const lines = [`viewer wall ${tokens.viewer}`, `analyst maria ${tokens.analyst}`]
  writeFileSync(more, lines.join('\n'), { mode: 0o600 })
  policies = join(folder, 'policies.json')
  writeFileSync(policies, JSON.stringify(file()), { mode: 0o644 })
  table = newTable()
  const content = smallContent()
  const [first, ...others] = content.sources
  writeTable(table, { ...content, sources: [{ ...first!, provider: hostile }, ...others] })
  const config = join(folder, 'iprisk.json')
  writeFileSync(config, JSON.stringify({ lists: { published } }), { mode: 0o644 })
  server = await startServer({
    table,
    state,
    args: [
      ['--config', config],
      ['--admin-token-file', admin, '--admin-tokens-file', more],
      ['--policies', policies],
    ].flat(),
  })
  ask = adminClient(server.adminPort)
}, 120_000)

afterAll(async () => {
  await server.stop('SIGKILL')
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const errorOf = ({ status, value }: Awaited<ReturnType<Ask>>): readonly [number, string] => [
  status,
  value.error.code as string,
]

it('asks every route for its role', async () => {
  const documented = await ask('GET', '/admin/openapi.json', { headers: bearer(tokens.viewer) })
  const routes = Object.entries(documented.value.paths as object).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, route]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/, 'none'),
      role: (route as Record<string, string>)['x-role'],
    })),
  )
  const changing = routes.filter(({ role }) => role !== 'viewer')
  expect(changing.length).toBeGreaterThan(12)
  for (const { method, path, role } of changing) {
    const reply = await ask(method, path, { headers: bearer(tokens.viewer), body: {} })
    expect([method, path, ...errorOf(reply)]).toEqual([method, path, 403, 'forbidden_role'])
    if (role !== 'admin') continue
    const other = await ask(method, path, { headers: bearer(tokens.analyst), body: {} })
    expect([method, path, ...errorOf(other)]).toEqual([method, path, 403, 'forbidden_role'])
  }
  expect((await ask('GET', '/admin/lists')).status).toBe(401)
  const list = { headers: bearer(tokens.analyst), body: { name: 'office', effect: 'allow' } }
  expect((await ask('POST', '/admin/lists', list)).status).toBe(201)
  const entries = { ...list, body: { entries: ['9.1.2.0/24', '9.1.2.3'], note: '<b>ours</b>' } }
  expect((await ask('POST', '/admin/lists/office/entries', entries)).status).toBe(200)
  const audit = await ask('GET', '/admin/audit?limit=1', { headers: bearer(tokens.viewer) })
  expect(audit.value.rows).toEqual([
    {
      at: expect.any(String),
      who: 'maria',
      via: 'admin port',
      act: 'lists add',
      what: 'office: 9.1.2.0/24, 9.1.2.3',
    },
  ])
  const { at } = audit.value.rows[0]
  const before = `/admin/audit?limit=1&before=${at}`
  const earlier = await ask('GET', before, { headers: bearer(tokens.viewer) })
  expect(earlier.value.rows).toMatchObject([{ act: 'lists create', what: 'office' }])
})

it('makes, turns and ends keys, in effect when it answers', async () => {
  const admin = { headers: bearer(tokens.admin) }
  const check = async (text: string): Promise<number> => {
    const url = `http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`
    const headers = { authorization: `Bearer ${text}` }
    const body = JSON.stringify({ ip: '9.1.2.3' })
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  const wish = { name: 'shop', plan: 'team', rate: 5, quota: 100, expires: '90d' }
  const made = await ask('POST', '/admin/keys', { ...admin, body: wish })
  expect(made).toMatchObject({
    status: 201,
    value: { key: expect.stringMatching(/^irk_/), in_effect: true },
  })
  const { id, key: text } = made.value
  expect(await check(text)).toBe(200)
  const listed = await ask('GET', '/admin/keys', admin)
  expect(listed.value).toMatchObject({ total: 2, plans: expect.arrayContaining(['team']) })
  expect(listed.value.keys[0]).toMatchObject({
    id,
    name: 'shop',
    plan: 'team',
    per_second: 5,
    quota: 100,
    revoked: null,
    policies: [],
  })
  expect(listed.value.keys[0].used).toBeGreaterThan(0)
  expect(listed.text).not.toContain(text.slice(17, 49))
  const turned = { ...admin, body: { grace_hours: 0 } }
  const next = await ask('POST', `/admin/keys/${id}/rotate`, turned)
  expect([await check(text), await check(next.value.key)]).toEqual([401, 200])
  const gone = await ask('DELETE', `/admin/keys/${id}`, admin)
  expect(gone).toMatchObject({ status: 200, value: { id, in_effect: true } })
  expect(await check(next.value.key)).toBe(401)
  const named = { ...admin, body: { plan: 'team', policies: ['default', 'ghost'] } }
  const { cautions } = (await ask('POST', '/admin/keys', named)).value
  expect([made.value.cautions, cautions]).toEqual([[], [expect.stringContaining('policy ghost')]])
  const wrong = [
    ['POST', '/admin/keys', { plan: 'none' }, 400, 'usage'],
    ['POST', '/admin/keys', { plan: 'team', rate: 0 }, 400, 'invalid_input'],
    ['POST', '/admin/keys', { plan: 'team', secret: 'x' }, 400, 'invalid_input'],
    ['POST', `/admin/keys/${id}/rotate`, {}, 409, 'key_not_live'],
    ['POST', '/admin/keys/0123456789ab/rotate', {}, 404, 'key_unknown'],
    ['DELETE', '/admin/keys/x', {}, 400, 'invalid_input'],
  ] as const
  for (const [method, path, body, status, code] of wrong) {
    expect([path, ...errorOf(await ask(method, path, { ...admin, body }))]).toEqual([
      path,
      status,
      code,
    ])
  }
  const log = readFileSync(join(state, 'audit.log'), 'utf8')
  expect(log).not.toContain(text)
  expect(log).toMatch(/"keys":\["\w{12}"\],"act":"rotate","via":"admin port"/)
})

it('tells all about an address', async () => {
  const viewer = { headers: bearer(tokens.viewer) }
  const seen = await ask('GET', '/admin/address?ip=9.1.2.3&without=feed-tor&days=400', viewer)
  expect(seen.status).toBe(200)
  const { answer, insights, decision, lists, strips, neighbours, what_if: other } = seen.value
  expect(answer).toMatchObject({ ip: '9.1.2.3', risk_score: 0, lists: ['office'] })
  expect(decision).toEqual({ action: 'block', rule: 'tor', policy: 'default' })
  expect(insights.evidence.length).toBeGreaterThan(0)
  const since = expect.stringMatching(/^20.*Z$/) as unknown
  expect(lists).toEqual([
    { list: 'office', effect: 'allow', entry: '9.1.2.3', since, until: null, note: '<b>ours</b>' },
    {
      list: 'office',
      effect: 'allow',
      entry: '9.1.2.0/24',
      since,
      until: null,
      note: '<b>ours</b>',
    },
  ])
  expect(strips).toHaveLength(insights.evidence.length)
  for (const { days } of strips) expect(days).toMatch(/^[01~-]{60}$/)
  expect(neighbours).toMatchObject({ prefix: '9.1.2.0/24' })
  expect(neighbours.cells).toHaveLength(256)
  expect(neighbours.cells[3]).toMatchObject({ ip: '9.1.2.3' })
  expect(other.risk_score).toEqual(expect.any(Number))
  const six = await ask('GET', '/admin/address?ip=2a01:4f8::1', viewer)
  expect(six.value.neighbours.prefix).toBe('2a01:4f8::/56')
  expect(six.value.neighbours.cells).toHaveLength(256)
  expect(six.value.neighbours.cells[0]).toMatchObject({ ip: '2a01:4f8::1' })
  expect(six.value.neighbours.cells[255]).toMatchObject({ ip: '2a01:4f8:0:ff::' })
  expect(six.value.what_if).toBe(null)
  expect(six.value.answer).not.toHaveProperty('agent')
  const crawler = await ask('GET', '/admin/address?ip=9.1.2.3&user_agent=bingbot/2.0', viewer)
  const agent = { name: 'bingbot', operator: 'Microsoft', status: 'unverified' }
  expect(crawler.value.answer.agent).toMatchObject(agent)
  expect(crawler.value.decision).toEqual(decision)
  expect(crawler.value.answer).not.toHaveProperty('travel')
  const from = async (query: string) => {
    const { value } = await ask('GET', `/admin/address?ip=9.1.2.3&previous=${query}`, viewer)
    return value.answer
  }
  expect((await from('9.9.9.9')).travel).toMatchObject({ known: true, same_asn: true })
  expect((await from('9.9.9.9')).travel.hours).toBeCloseTo(1, 1)
  expect((await from('9.9.9.9&previous_hours=24')).travel.hours).toBeCloseTo(24, 1)
  const { travel, context_errors: errors } = await from('office')
  expect([travel.known, errors]).toEqual([
    false,
    [expect.objectContaining({ param: 'previous.ip' })],
  ])
  const wrong = [
    '?ip=9.1.2.3&previous=9.9.9.9&previous_hours=x',
    '?ip=%3Cscript%3E',
    '?ip=9.1.2.3&policy=none',
    '?ip=9.1.2.3&days=-1',
    '',
  ]
  for (const query of wrong) {
    expect(errorOf(await ask('GET', `/admin/address${query}`, viewer))).toEqual([
      400,
      'invalid_input',
    ])
  }
})

it('tells of a prefix and of an AS what its addresses are, one by one', async () => {
  const headers = bearer(tokens.viewer)
  const network = async (of: string) =>
    ask('GET', `/admin/network?of=${encodeURIComponent(of)}`, { headers })
  const { value } = await network('9.1.2.0/23')
  const addresses = Array.from({ length: 512 }, (_, at) => `9.1.${2 + (at >> 8)}.${at & 255}`)
  const rows = await ask('POST', '/admin/addresses', { headers, body: { addresses } })
  const counts = new Map<string, number>()
  for (const { classification } of rows.value.rows as readonly { classification: string }[])
    counts.set(classification, (counts.get(classification) ?? 0) + 1)
  const told = (value.ipv4 as NetworkView['ipv4']).map(
    ({ classification, addresses: number }) => [classification, number] as const,
  )
  expect(counts.size).toBeGreaterThan(1)
  expect(new Map(told)).toEqual(counts)
  expect(value).toMatchObject({ of: '9.1.2.0/23', name: '', ipv6: [] })
  const entries = (value.lists as NetworkView['lists']).map(({ entry }) => entry)
  expect(entries).toEqual(['9.1.2.3', '9.1.2.0/24'])
  const inside = await network('9.1.2.128/25')
  expect(inside.value.lists).toMatchObject([{ list: 'office', entry: '9.1.2.0/24' }])
  const system = await network('as64496')
  expect(system.value).toMatchObject({ of: 'AS64496', name: 'Example Access', lists: [] })
  expect(system.value.ipv4).toContainEqual({ classification: 'tor', addresses: 1 })
  for (const of of ['9.1.2.1/24', 'AS0', '9.1.2.0-9.1.2.2', 'x', ''])
    expect(errorOf(await network(of))).toEqual([400, 'invalid_input'])
})

it('answers many addresses as rows, and refuses more than it takes', async () => {
  const headers = bearer(tokens.viewer)
  const addresses = ['9.1.2.3', ' 9.200.1.1 ', '=HYPERLINK("x")', '::ffff:9.9.9.9']
  const { value } = await ask('POST', '/admin/addresses', { headers, body: { addresses } })
  expect(value.rows).toMatchObject([
    { ip: '9.1.2.3', action: 'block', lists: ['office'] },
    { ip: '9.200.1.1', classification: 'vpn', provider: 'Example VPN', action: 'allow' },
    { ip: '=HYPERLINK("x")', error: expect.any(String) },
    { ip: '9.9.9.9', asn: 64496, country: 'DE' },
  ])
  const most = Array.from({ length: 10_001 }, () => '9.1.2.3')
  const all = { headers, body: { addresses: most.slice(1) } }
  expect((await ask('POST', '/admin/addresses', all)).value.rows).toHaveLength(10_000)
  for (const body of [{ addresses: most }, { addresses: [] }, { addresses: [1] }, { ips: [] }]) {
    expect(errorOf(await ask('POST', '/admin/addresses', { headers, body }))).toEqual([
      400,
      'invalid_input',
    ])
  }
})

it('writes policies that are sound, and of the file that was changed', async () => {
  const headers = bearer(tokens.admin)
  const save = (body: object) => ask('POST', '/admin/policies', { headers, body })
  const before = (await ask('GET', '/admin/policies', { headers })).value.status.revision as string
  const wrong = await save({ ...file('signals.tot'), revision: before })
  expect([wrong.status, wrong.value.error.code]).toEqual([400, 'policies_invalid'])
  expect(wrong.value.mistakes).toEqual([expect.stringContaining('rules[0] (tor).condition')])
  expect(errorOf(await save(file()))).toEqual([400, 'invalid_input'])
  const vpn = file('signals.vpn').policies.default
  const described = { policies: { default: { description: 'Ours', ...vpn } } }
  const saved = await save({ ...described, revision: before })
  expect(saved.status).toBe(200)
  const { revision } = saved.value
  const live = await ask('GET', '/admin/policies', { headers })
  expect(live.value.status).toMatchObject({ revision, last_failure: null })
  expect(live.value.policies).toMatchObject(described.policies)
  expect(JSON.parse(readFileSync(policies, 'utf8'))).toEqual(described)
  // Two people had loaded the same file; the second one learns of the first.
  expect(errorOf(await save({ ...file('signals.proxy'), revision: before }))).toEqual([
    409,
    'policies_changed',
  ])
  const audit = await ask('GET', '/admin/audit?limit=2', { headers })
  expect(audit.value.rows).toMatchObject([
    { act: 'policies save', what: expect.stringContaining('failed: policies_changed') },
    { act: 'policies save', what: `${before} → ${revision}` },
  ])
  const tag = live.value.file_tag as string
  const theirs = { policies: { default: { ...described.policies.default, description: 'Mine' } } }
  expect((await save({ ...theirs, revision, file_tag: tag })).value.revision).toBe(revision)
  // It decides alike, and yet somebody's words would be lost; who sends no tag overwrites them.
  const late = await save({ ...described, revision, file_tag: tag })
  expect(errorOf(late)).toEqual([409, 'policies_changed'])
  expect(JSON.parse(readFileSync(policies, 'utf8'))).toEqual(theirs)
  expect((await save({ ...described, revision })).status).toBe(200)
  chmodSync(policies, 0o666)
  expect((await save({ ...file(), revision })).status).toBe(200)
  expect(statSync(policies).mode & 0o777).toBe(0o644)
})

it('rehearses policies against those that are live', async () => {
  const headers = bearer(tokens.analyst)
  const line = (ip: string) => `${ip} - - [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1`
  const log = ['9.1.2.3', '9.200.1.1', '9.200.1.2', 'nobody'].map(line).join('\n')
  const rehearse = async (body: object) => {
    const begun = await ask('POST', '/admin/rehearsals', { headers, body })
    expect([begun.status, begun.value.status]).toEqual([202, 'running'])
    return eventually(async () => {
      const { value } = await ask('GET', `/admin/rehearsals/${begun.value.id}`, { headers })
      return value.status === 'running' ? undefined : value
    })
  }
  const array = JSON.stringify([{ ip: '9.1.2.3' }, { ip: '9.200.1.1' }], null, 1)
  expect(await rehearse({ log: array })).toMatchObject({ report: { requests: 2, bad_lines: 0 } })
  const done = await rehearse({ ...file('signals.vpn'), log })
  expect(done).toMatchObject({
    status: 'done',
    report: {
      requests: 3,
      bad_lines: 1,
      actions: [
        { action: 'block', requests: 2 },
        { action: 'allow', requests: 1 },
      ],
      changed: { requests: 3, by_action: expect.any(Array) },
    },
  })
  const wrong = [
    [{ ...file('signals.tot'), log }, 'mistakes'],
    [{ log, sample: true }, '"sample": true'],
    [{ sample: true }, 'samples no traffic; start it with'],
    [{ log: 'x' }, 'No line has an address'],
    [{ log: `${'x'.repeat(99)}\n`.repeat(20_001) }, 'at most'],
    [{ log, policy: 'none' }, 'no policy none'],
  ] as const
  for (const [body, why] of wrong) {
    expect(await rehearse(body)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(why),
    })
  }
  expect(errorOf(await ask('GET', '/admin/rehearsals/none', { headers }))).toEqual([
    404,
    'rehearsal_unknown',
  ])
})

it('shows published sets, makes keys that read them, and tries conditions', async () => {
  const headers = bearer(tokens.analyst)
  const shown = async () => {
    const { value } = await ask('GET', '/admin/sets', { headers })
    return value as SetsView
  }
  const first = await shown()
  const url = `http://127.0.0.1:${server.port}/lists/`
  expect(first).toMatchObject({ url, plan: 'business' })
  expect(first.formats).toContain('nft')
  const unread = { built_in: true, made: null }
  expect(first.sets).toContainEqual({ ...unread, name: 'tor', condition: 'signals.tor' })
  expect(first.sets).toContainEqual({
    ...unread,
    name: 'bouncer',
    condition: "decision.action != 'allow'",
  })
  const own = { name: 'stopped', condition: published.stopped, built_in: false, made: null }
  expect(first.sets).toContainEqual(own)

  const wish = { name: 'list hosting', plan: 'internal', api: ['lists'] }
  const made = await ask('POST', '/admin/keys', { headers: bearer(tokens.admin), body: wish })
  const fetched = async (path: string, encoding = 'identity'): Promise<Response> => {
    const sent = { authorization: `Bearer ${made.value.key}`, 'accept-encoding': encoding }
    return fetch(`http://127.0.0.1:${server.port}${path}`, { headers: sent })
  }
  const text = await (await fetched('/lists/hosting')).text()
  // What is packed beside it is no size of the list.
  expect(await (await fetched('/lists/hosting', 'gzip')).text()).toBe(text)
  expect((await fetched('/v1/intelligence/ip-risk/check')).status).not.toBe(200)
  const lines = text.trim().split('\n')
  const ipv4 = lines.filter((line) => !line.includes(':'))
  const { sets } = await shown()
  expect(sets.find(({ name }) => name === 'hosting')?.made).toEqual({
    at: expect.stringMatching(/^20\d\d-.*Z$/),
    prefixes: lines.length,
    ipv4: ipv4.length,
    too_large: false,
    growth: null,
    bytes: { plain: text.length },
  })

  const trying = (condition: string) =>
    ask('POST', '/admin/sets/try', { headers, body: { condition } })
  const tried = await trying('signals.hosting')
  const trial = tried.value as SetTrial
  const size = (line: string): number => 2 ** (32 - Number(line.split('/')[1] ?? 32))
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)
  const { addresses, networks } = trial.ipv4
  const prefixes = [trial.ipv4.prefixes, trial.ipv6.prefixes]
  expect(prefixes).toEqual([ipv4.length, lines.length - ipv4.length])
  expect(addresses).toBe(sum(ipv4.map(size)))
  expect(sum(networks.map((one) => one.addresses))).toBe(addresses)
  expect(networks[0]).toMatchObject({ name: expect.stringMatching(/^AS\d+ /) })
  const bad = await trying("decision.action == 'block' && signals.tot")
  expect(errorOf(bad)).toEqual([400, 'invalid_input'])
  expect(bad.value.error.message).toMatch(/column 31: .*tot/)
  expect(errorOf(await trying(''))).toEqual([400, 'invalid_input'])
})

it('shows traffic as it comes, feeds with whatever names they have, and what a table changed', async () => {
  const headers = bearer(tokens.viewer)
  const text = await makeKey(state)
  await eventually(async () => {
    const url = `http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`
    const sent = { authorization: `Bearer ${text}` }
    const body = JSON.stringify({ ip: '9.200.1.1' })
    return (await fetch(url, { method: 'POST', headers: sent, body })).status === 200
  })
  const last = await eventually(async () => {
    const { value } = await ask('GET', '/admin/traffic', { headers })
    const point = value.minutes.at(-1)
    // Those of the tests before may be there earlier.
    const isSeen = (value.minutes as TrafficView['minutes']).some(
      ({ decisions }) => 'default/allow' in decisions,
    )
    return isSeen ? { point, value } : undefined
  })
  const { minutes, top } = last.value
  const points = minutes as TrafficView['minutes']
  expect(Math.max(...points.flatMap(({ scores }) => scores))).toBeGreaterThan(0)
  expect(points.flatMap(({ decisions }) => Object.keys(decisions))).toContain('default/allow')
  expect(top.networks[0]).toMatchObject({ name: 'AS64496 Example Access', error: 0 })
  expect(top.providers[0]).toMatchObject({ name: 'Example VPN' })
  const since = await ask('GET', '/admin/traffic?since=2999-01-01T00:00:00Z', { headers })
  expect(since.value.minutes).toEqual([])

  const feeds = await ask('GET', '/admin/feeds', { headers })
  expect(feeds.headers['content-type']).toBe('application/json')
  expect(feeds.value.feeds[0]).toMatchObject({ name: hostile, entries: expect.any(Number) })
  expect(feeds.value.feeds[0].history).toHaveLength(60)
  expect(feeds.value.failing).toEqual([])
  expect(feeds.value.coverage.tor).toEqual({ state: 'missing', day: '2026-08-22' })

  const none = await ask('GET', '/admin/table/changes', { headers })
  expect(none.value).toMatchObject({ against: null, status: 'none' })
  const before = none.value.table
  replaceTable(table, '2026-08-23', listed.slice(1))
  const swapped = await eventually(async () => {
    const reply = await ask('POST', '/admin/table/reload', {
      headers: bearer(tokens.admin),
      body: { force: true },
    })
    return reply.value.table === before ? undefined : reply
  })
  expect(swapped.status).toBe(200)
  const changes = await eventually(async () => {
    const reply = await ask('GET', '/admin/table/changes', { headers })
    return reply.status === 202 ? undefined : reply
  })
  expect(changes.value).toMatchObject({
    against: before,
    status: 'done',
    addresses_changed: 1,
    classes: [{ from: 'tor', addresses: 1 }],
    networks: [{ name: 'AS64496 Example Access', addresses: 1 }],
    largest: [{ prefix: '9.1.2.3', from: 'tor' }],
  })
  const network = await ask('GET', '/admin/network?of=9.1.2.3/32', { headers })
  expect(network.value.against).toBe(before)
  expect(network.value.ipv4).toContainEqual({ classification: 'tor', addresses: 0, before: 1 })
  const audit = await ask('GET', '/admin/audit?limit=50', { headers })
  expect(audit.value.rows).toContainEqual(
    expect.objectContaining({ act: 'table reload', what: `${before} → ${changes.value.table}` }),
  )
  const idle = await ask('GET', '/admin/refresh', { headers })
  expect(idle.value).toEqual({ running: false, stage: null, last: null })
})

it('writes the first policies, which decide at once', async () => {
  const { state: own, key } = await keyedState()
  const one = await startServer({ table: writeSmallTable(), state: own })
  try {
    const plain = adminClient(one.adminPort)
    const before = await plain('GET', '/admin/policies')
    expect(before.value).toEqual({ status: null, policies: {} })
    const saved = await plain('POST', '/admin/policies', { body: { ...file(), revision: null } })
    expect(saved.status).toBe(200)
    const after = await plain('GET', '/admin/policies')
    expect(after.value.status.revision).toBe(saved.value.revision)
    const url = `http://127.0.0.1:${one.port}/v1/intelligence/ip-risk/check`
    const sent = { authorization: `Bearer ${key}` }
    const decided = await eventually(async () => {
      const reply = await fetch(url, { method: 'POST', headers: sent, body: '{"ip":"9.200.1.1"}' })
      return ((await reply.json()) as { readonly decision?: object }).decision
    })
    expect(decided).toMatchObject({ policy: 'default' })
  } finally {
    await one.stop('SIGKILL')
  }
})

it('shows what workers have counted that are replaced', async () => {
  const { state: own, key } = await keyedState()
  const one = await startServer({ table: writeSmallTable(), state: own })
  try {
    const url = `http://127.0.0.1:${one.port}/v1/intelligence/ip-risk/check`
    const sent = { authorization: `Bearer ${key}` }
    const checks = Array.from({ length: 20 }, () =>
      fetch(url, { method: 'POST', headers: sent, body: '{"ip":"9.200.1.1"}' }),
    )
    for (const reply of await Promise.all(checks)) expect(reply.status).toBe(200)
    one.child.kill('SIGUSR2')
    await eventually(() => one.stderr().includes('Every worker was replaced'))
    const { value } = await adminClient(one.adminPort)('GET', '/admin/traffic')
    const counted = (value.minutes as TrafficView['minutes']).flatMap(({ scores }) => scores)
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(20)
    const byKey = (value.minutes as TrafficView['minutes']).flatMap(({ keys }) =>
      Object.entries(keys),
    )
    expect(byKey.reduce((sum, [id, count]) => (key.includes(id) ? sum + count : sum), 0)).toBe(20)
    expect(value.before).toBeNull()
    // The minutes that are over are there for the next server on this port.
    await one.stop('SIGTERM')
    const kept: unknown = JSON.parse(readFileSync(join(own, `traffic-${one.port}.json`), 'utf8'))
    const over = (value.minutes as TrafficView['minutes']).slice(0, -1)
    expect(kept).toEqual(expect.arrayContaining([...over]))
  } finally {
    await one.stop('SIGKILL')
  }
})
