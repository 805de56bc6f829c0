// List URLs against a real server: who may read, what is refused, and how a list changes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Reader, type Response } from 'mmdb-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileLock, acquireFileLock } from '../../../src/base/system/file-lock.ts'
import { makeOwnFolder } from '../../../src/base/system/own-files.ts'
import { setFolder } from '../../../src/sets/set-folder.ts'
import { runProgram } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const state = newState()
const config = join(state, 'iprisk.json')
const published = { reported: '"reported" in lists', everything: 'risk_score >= 0' }
let server: Server
let key = ''
let other = ''
let lock: FileLock | undefined
let unmade: ReturnType<typeof ask>

beforeAll(async () => {
  writeFileSync(config, JSON.stringify({ lists: { published } }), { mode: 0o644 })
  key = await makeKey(state, { apis: ['lists'] })
  other = await makeKey(state, { apis: ['ip-risk'] })
  server = await startServer({
    table: writeSmallTable(),
    state,
    workers: 2,
    args: ['--config', config],
  })
  // Its first generation cannot be made while the test has this lock.
  const host = { host: '127.0.0.1', port: server.port }
  const folder = setFolder(state, 'vpn', host)
  makeOwnFolder(folder)
  lock = acquireFileLock(join(folder, 'lock'))
  unmade = ask('vpn')
  await lists('create', 'reported')
  await lists('create', 'partners', '--effect', 'allow')
})
afterAll(() => server?.stop())

const lists = async (...args: readonly string[]): Promise<void> => {
  const ended = await runProgram(['lists', ...args, '--state', state], { cwd: state })
  if (ended.code !== 0) throw new Error(ended.err)
}

const ask = async (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
) => {
  const response = await fetch(`http://127.0.0.1:${server.port}/lists/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity', ...headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const tor = '9.1.2.3\n2a01:4f8::1\n'

describe('a list', () => {
  it('is made at the first request, and is the same for Basic', async () => {
    const first = await ask('tor')
    expect([first.status, first.text]).toEqual([200, tor])
    expect(first.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const basic = Buffer.from(`firewall:${key}`).toString('base64')
    expect((await ask('tor', { authorization: `Basic ${basic}` })).text).toBe(tor)
    expect((await ask('tor?family=6')).text).toBe('2a01:4f8::1\n')
    expect((await ask('tor?format=json')).headers.get('content-type')).toBe('application/json')
    expect((await ask('tor?page=2&page_size=1')).text).toBe('2a01:4f8::1\n')
  })

  it('is known by its tag, and packed where that is taken', async () => {
    const { headers } = await ask('tor')
    const tag = headers.get('etag')!
    expect(new Date(headers.get('last-modified')!).getTime()).toBeGreaterThan(0)
    const again = await ask('tor', { 'if-none-match': tag })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag])
    const packed = await ask('tor', { 'accept-encoding': 'gzip' })
    expect([packed.headers.get('content-encoding'), packed.text]).toEqual(['gzip', tor])
    expect(packed.headers.get('etag')).not.toBe(tag)
    const head = await ask('tor', {}, 'HEAD')
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', tag])
    for (const { headers } of [head, again])
      expect(headers.get('content-length')).toBe(String(tor.length))
  })

  it('changes with own lists, and never has what an own allow list names', async () => {
    expect((await ask('reported')).text).toBe('')
    await lists('add', 'reported', '198.51.7.0/24')
    await lists('add', 'partners', '9.1.2.3')
    const changed = async (name: string, text: string) =>
      eventually(async () => ((await ask(name)).text === text ? true : undefined), 30_000)
    await changed('reported', '198.51.7.0/24\n')
    await changed('tor', '2a01:4f8::1\n')
    await lists('remove', 'partners', '9.1.2.3')
    await changed('tor', tor)
  })

  it('of MMDB has the addresses of the set alone, as the layout says', async () => {
    const response = await fetch(
      `http://127.0.0.1:${server.port}/lists/tor?format=mmdb&layout=anonymous-ip`,
      { headers: { authorization: `Bearer ${key}` } },
    )
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    const reader = new Reader<Response>(Buffer.from(await response.arrayBuffer()))
    expect(reader.get('9.1.2.3')).toMatchObject({ is_anonymous: true, is_tor_exit_node: true })
    expect(reader.get('2a01:4f8::1')).toMatchObject({ is_tor_exit_node: true })
    for (const other of ['9.1.2.2', '9.1.2.4', '9.200.0.1', '2a01:4f8::2', '2a01:4f8::'])
      expect([other, reader.get(other)]).toEqual([other, null])
  })

  it('of bouncers is what the policy stops', async () => {
    // There is no policy.
    expect((await ask('bouncer')).text).toBe('')
  })
})

describe('refused', () => {
  it.each([
    ['no key', () => ''],
    ['a wrong key', () => 'Bearer irk_nonsense'],
    ['Basic without a key', () => 'Basic YTpi'],
  ])('is %s, by 401 that offers Basic', async (_, authorization) => {
    const { status, headers } = await ask('tor', { authorization: authorization() })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic realm="iprisk", Bearer'])
  })

  it('is a key without the API, and one of lists at a check', async () => {
    expect((await ask('tor', { authorization: `Bearer ${other}` })).status).toBe(403)
    const check = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{"ip":"9.1.2.3"}',
    })
    expect(check.status).toBe(403)
  })

  it.each(['nothing', '', 'constructor', 'tor/x', '../tor'])('is the set "%s"', async (name) => {
    expect((await ask(name)).status).toBe(404)
  })

  it.each([
    ['format=xml', 'it must be one of plain, range, '],
    ['family=5', 'it must be 4 or 6'],
    ['page=2', 'it must be from 1 to 1000000, and page needs it'],
    ['format=nft&page_size=5', 'nft, ipset, mmdb have no pages'],
    ['max=0', 'it must be a number of prefixes'],
    ['page=0&page_size=1', 'it must be from 1 to 10000'],
    ['layout=city', 'it needs format=mmdb'],
  ])('is ?%s, by what is allowed', async (query, rule) => {
    const { status, text } = await ask(`tor?${query}`)
    expect([status, text]).toEqual([400, expect.stringContaining(rule)])
    expect(JSON.parse(text)).toMatchObject({ error: { param: expect.any(String) as string } })
  })

  it('is a set of more prefixes than max, with their number', async () => {
    const { status, text } = await ask('tor?max=1')
    expect([status, text]).toEqual([422, expect.stringMatching(/set_too_large.*has 2 prefixes/)])
  })

  it('is a set that is not made yet, by 503 that says when to come again', async () => {
    const { status, headers } = await unmade
    lock?.release()
    expect([status, Number(headers.get('retry-after'))]).toEqual([503, expect.any(Number)])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('is another method', async () => {
    const { status, headers } = await ask('tor', {}, 'POST')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

it.each(['nonsense > 1', 'risk_score > 1 && travel.kmh > 900'])('%s stops a start', async (x) => {
  const wrong = join(state, 'wrong.json')
  writeFileSync(wrong, JSON.stringify({ lists: { published: { x } } }), {
    mode: 0o644,
  })
  const args = [
    'serve',
    '--config',
    wrong,
    '--port',
    '0',
    '--admin-port',
    '0',
    '--state',
    newState(),
  ]
  const { code, err } = await runProgram([...args, '--table', writeSmallTable()], { cwd: state })
  expect([code, err]).toEqual([2, expect.stringContaining('lists.published.x')])
})
