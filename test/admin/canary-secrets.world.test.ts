// Canary secrets: real keys through everything that a server and a command line do, and then a
// search of all that they leave behind or say for the secret parts: raw, base64, hex, UTF-16. The
// one place where each may stand is the line that shows it.

import { createHash } from 'node:crypto'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { formatKeyText, parseKeyText, randomSecret } from '../../src/account/keys/key-text.ts'
import { programPath, runProgram } from '../cli/program.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { leaksIn, leaksUnder } from './secret-leak.ts'
import { newState, sleep, workersOf } from '../serve/server.ts'
import { converse } from '../http/raw-socket.ts'
import { eventually } from '../eventually.ts'

const folder = newState()
const state = join(folder, 'data/state')
const table = join(folder, 'small.iprisk')
const said = { server: '', shown: '', commands: '', answers: '' }
const secrets: string[] = []
let child: ChildProcess

afterAll(() => {
  child.kill('SIGKILL')
})

/** Takes note of a key that was shown; gives the rest of the text. */
function shown(text: string): string {
  return text.replaceAll(/irk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}/g, (key) => {
    const parsed = parseKeyText(key)
    if (parsed === undefined) return key
    said.shown += key
    if (!secrets.includes(parsed.secret)) secrets.push(parsed.secret)
    return ''
  })
}

const leaks = (place: string, content: Buffer): readonly string[] =>
  leaksIn(secrets, place, content)

async function keys(...args: readonly string[]): Promise<string> {
  const { out, err } = await runProgram(['keys', ...args], { cwd: folder })
  // Only where a new secret is shown may it be.
  const mayShow = args[0] === 'create' || args[0] === 'rotate'
  said.commands += (mayShow ? shown(out) : out) + err
  return out
}
const keyIn = (out: string): string => /irk_\w+/.exec(out)?.[0] ?? ''

async function startServer(): Promise<{ port: number; adminPort: number }> {
  const args = ['--port', '0', '--admin-port', '0', '--workers', '2', '--log-level', 'trace']
  child = spawn(process.execPath, [programPath, 'start', ...args, '--table', table], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout?.on('data', (chunk: Buffer) => (said.server += shown(chunk.toString())))
  child.stderr?.on('data', (chunk: Buffer) => (said.server += chunk.toString()))
  const running = /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/m
  const line = await eventually(() => running.exec(said.server) ?? undefined)
  return { port: Number(line[1]), adminPort: Number(line[2]) }
}

/** Requests of all kinds with a key: in its place, and where people put it by mistake. */
async function use(port: number, key: string): Promise<void> {
  const base = `http://127.0.0.1:${port}`
  const path = '/v1/intelligence/ip-risk/check'
  const authorization = `Bearer ${key}`
  const post = { method: 'POST', headers: { authorization } }
  const basic = `Basic ${Buffer.from(`bouncer:${key}`).toString('base64')}`
  const asks: readonly (readonly [string, RequestInit])[] = [
    [path, { ...post, body: '{"ip":"9.1.2.3"}' }],
    [path, { ...post, body: '{"ip":' }],
    [path, { ...post, body: JSON.stringify({ ip: key }) }],
    [path, { ...post, body: 'x'.repeat(70_000) }],
    [path, { headers: { authorization } }],
    [path, { method: 'POST', headers: { authorization: key }, body: '{"ip":"9.1.2.3"}' }],
    [path, { method: 'POST', headers: { authorization: `Basic ${key}` }, body: '{}' }],
    [`${path}?key=${key}`, { ...post, body: '{"ip":"9.1.2.3"}' }],
    [`/${key}`, { headers: { authorization } }],
    [path, { method: 'POST', headers: { 'x-api-key': key, cookie: `k=${key}` }, body: '{}' }],
    // CrowdSec's header, right and wrong, and Basic with the key as password.
    ...['?ip=9.1.2.3', '?ip=no', `?ip=${key}`, '/stream?startup=true', `/${key}`].map(
      (query) => [`/v1/decisions${query}`, { headers: { 'x-api-key': key } }] as const,
    ),
    ['/v1/decisions?ip=9.1.2.3', { headers: { 'x-api-key': `${key} ` + key } }],
    ['/v1/usage-metrics', { method: 'POST', headers: { 'x-api-key': key }, body: key }],
    ['/v1/decisions/stream', { headers: { authorization: basic } }],
    [path, { method: 'POST', headers: { authorization: basic }, body: '{"ip":"9.1.2.3"}' }],
  ]
  for (const [where, what] of asks) {
    const answer = await fetch(base + where, what).catch(() => undefined)
    if (answer === undefined) continue
    // Many keys are used at once: what others add meanwhile stays.
    const text = await answer.text()
    said.answers += text
  }
  // Nor is it taken for the id of a request, which comes back and which proxies log.
  const headers = { authorization, 'x-request-id': key }
  const wrong = { method: 'POST', headers, body: '{"ip":"no"}' }
  const answer = await fetch(base + path, wrong).catch(() => undefined)
  if (answer !== undefined) {
    const text = await answer.text()
    said.answers += `${answer.headers.get('x-request-id')} ${text}`
  }
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`
  // Bad framing, a body that never comes, and two keys.
  for (const rest of [
    'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    'content-length: 500\r\n\r\n{',
    `authorization: ${authorization}\r\ncontent-length: 2\r\n\r\n{}`,
  ]) {
    const { text } = await converse(port, [head + rest])
    said.answers += text
  }
}

it('a secret is shown once and found nowhere else', async () => {
  copyFileSync(writeSmallTable(), table)
  const { port, adminPort } = await startServer()
  await eventually(() => secrets.length === 1)
  const created = keyIn(await keys('create', '--plan', 'team', '--name', 'canary'))
  const quick = keyIn(await keys('create', '--plan', 'internal', '--rate', '1', '--burst', '1'))
  const closed = keyIn(await keys('create', '--plan', 'free', '--json'))
  const id = parseKeyText(created)?.id ?? ''
  const rotated = keyIn(await keys('rotate', id))
  const last = keyIn(await keys('rotate', id, '--json', '--grace-hours', '0'))
  const gone = keyIn(await keys('create', '--plan', 'team', '--json'))
  const bouncer = keyIn(await keys('create', '--plan', 'internal', '--api', 'bouncer'))
  await keys('revoke', parseKeyText(gone)?.id ?? '')
  await keys('revoke', created)
  await keys('rotate', created)
  const wrong = formatKeyText({ id, secret: randomSecret() })
  secrets.push(parseKeyText(wrong)?.secret ?? '')
  await sleep(500)
  const mangled = `${last.slice(0, -1)}!`
  const all = [created, quick, closed, rotated, last, gone, bouncer, wrong, mangled]
  await Promise.all(all.map((key) => use(port, key)))

  // Paths of failure: a table that is none, a worker that dies amid requests, a bad configuration.
  writeFileSync(`${table}.new`, `not a table ${last}`.slice(0, 11))
  renameSync(`${table}.new`, table)
  writeFileSync(join(folder, 'iprisk.json'), JSON.stringify({ plans: { team: { rate: 'x' } } }))
  await eventually(() => said.server.includes('The configuration was rejected'))
  writeFileSync(join(folder, 'iprisk.json'), '{}')
  await eventually(() => said.server.includes('The new table is not used'))
  const [worker = 0] = workersOf({ child })
  await Promise.all([use(port, last), sleep(30).then(() => process.kill(worker, 'SIGKILL'))])
  await eventually(() => said.server.includes('A worker died'))

  await keys('list')
  await keys('list', '--json')
  await keys('show', id)
  await keys('show', id, '--json')
  const exported = await keys('export')
  writeFileSync(join(folder, 'exported.json'), exported)
  await keys('import', 'exported.json')
  // Somebody takes a secret for its hash.
  const hash = createHash('sha256')
    .update(parseKeyText(last)?.secret ?? '')
    .digest('hex')
  const mistaken = exported.replace(hash, parseKeyText(last)?.secret ?? '')
  expect(mistaken).not.toBe(exported)
  said.commands += (await runProgram(['keys', 'import', '-'], { cwd: folder, input: mistaken })).err
  await keys('audit')
  await keys('audit', '--json')
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()

  const running = leaksUnder(secrets, state)
  child.kill('SIGTERM')
  await once(child, 'exit')

  expect(secrets.length).toBeGreaterThanOrEqual(9)
  // The search finds what is there: the shown keys, and the hash in the store.
  expect(leaks('shown', Buffer.from(said.shown)).length).toBeGreaterThanOrEqual(7)
  const kept = readFileSync(join(state, 'keys/data.mdb'))
  expect(kept.includes(hash)).toBe(true)
  for (const secret of secrets) {
    for (const shift of [0, 1, 2]) {
      const around = Buffer.from(`${'x'.repeat(shift)}${secret}yz`).toString('base64')
      expect(leaks('base64', Buffer.from(around))).not.toEqual([])
    }
  }
  expect(said.server).toContain('A request was answered.')
  expect(said.answers).toContain('invalid_api_key')
  expect(said.answers).toContain('rate_limit_exceeded')

  const found = [
    ...running,
    ...leaksUnder(secrets, state),
    ...leaks('server', Buffer.from(said.server)),
    ...leaks('commands', Buffer.from(said.commands)),
    ...leaks('answers', Buffer.from(said.answers)),
    ...leaks('metrics', Buffer.from(metrics)),
  ]
  expect(found).toEqual([])
})
