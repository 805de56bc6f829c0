// The life of a real server: keys that come and go, workers that die, draining, ports that are
// taken, a first table, the admin port, and what is counted meanwhile. Its edges, such as clients
// that linger and files that are damaged under it, are in lifecycle-edges.world.test.ts.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, type Server as NetServer, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { revokeKey, rotateKey } from '../../../src/account/keys/issue-key.ts'
import { parseKeyText } from '../../../src/account/keys/key-text.ts'
import { openLmdbKeyStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import {
  type Server,
  keyedState,
  makeKey,
  newState,
  runServe,
  serversOfTests,
  startServer,
  workersOf,
} from '../server.ts'
import { type Response, responsesIn } from '../../http/raw-socket.ts'
import { ask, check, path, statuses } from '../checks.ts'
import { newTable } from '../small-tables.ts'
import { eventually } from '../../eventually.ts'

const start = serversOfTests()

// In this order: what is counted is counted from the start on, and its first workers die in the
// end.
describe('a server', () => {
  let server: Server
  let key = ''
  beforeAll(async () => {
    const keyed = await keyedState()
    ;({ key } = keyed)
    server = await startServer({
      table: newTable(),
      workers: 2,
      state: keyed.state,
      args: ['--sample', '2000'],
      under: ['sh', '-c', 'umask 0; exec "$@"', 'sh'],
    })
  })
  afterAll(() => server.stop('SIGKILL'))

  it('counts what was answered, with help and type for every metric', async () => {
    for (let i = 0; i < 5; i += 1) await check(server.port, key)
    for (let i = 0; i < 3; i += 1) await check(server.port, key, '127.0.0.1')
    for (let i = 0; i < 4; i += 1) await check(server.port, key, 'x')
    for (let i = 0; i < 2; i += 1) await check(server.port, 'none')
    expect(await server.metric('iprisk_requests_total', '"200"')).toBe(8)
    expect(await server.metric('iprisk_requests_total', '"400"')).toBe(4)
    expect(await server.metric('iprisk_requests_total', '"401"')).toBe(2)
    expect(await server.metric('iprisk_requests_total')).toBe(14)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(5)
    expect(await server.metric('iprisk_answers_total', 'bogon')).toBe(3)
    expect(await server.metric('iprisk_request_duration_seconds_count')).toBe(14)
    expect(await server.metric('iprisk_request_duration_seconds_bucket', '+Inf')).toBe(14)
    const seconds = await server.metric('iprisk_request_duration_seconds_sum')
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(1)
    expect(await server.metric('iprisk_workers')).toBe(2)
    expect(await server.metric('iprisk_ready')).toBe(1)
    expect(await server.metric('iprisk_table_info', 'as_of="2026-08-22"')).toBe(1)
    expect(await server.metric('iprisk_feed_age_seconds', 'test-feed')).toBeGreaterThan(0)
    expect(await server.metric('iprisk_worker_resident_memory_bytes')).toBeGreaterThan(2e7)
    expect(await server.metric('process_resident_memory_bytes')).toBeGreaterThan(1e7)
    const { text } = await server.admin('/metrics')
    for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
      expect(line).toMatch(/^[a-z_:][a-z0-9_:]*(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? \S+$/i)
      const name = line.split(/[{ ]/)[0]!.replace(/_(bucket|sum|count)$/, '')
      expect(text).toMatch(new RegExp(`^# HELP ${name}(_count|_sum)? \\S`, 'm'))
      expect(text).toMatch(new RegExp(`^# TYPE ${name}(_count|_sum)? \\w+$`, 'm'))
    }
    const names = text.match(/^# TYPE \S+/gm)!
    expect(new Set(names).size).toBe(names.length)
  })

  // Within a second, on every worker: settings-effect.world.test.ts.
  it('takes keys when they are made, rotated and revoked', async () => {
    const become = (key: string, status: number): Promise<boolean> =>
      eventually(async () => {
        const seen = await statuses(server.port, key)
        return seen.size === 1 && seen.has(status)
      })
    const made = await makeKey(server.state)
    expect(await become(made, 200)).toBe(true)

    const store = await openLmdbKeyStore(server.state)
    const { id } = parseKeyText(made)!
    const { text: second } = await rotateKey(store, id, { now: Date.now(), graceMs: 0 })
    expect(await become(made, 401)).toBe(true)
    expect(await become(second, 200)).toBe(true)

    await revokeKey(store, id, Date.now())
    await store.close()
    expect(await become(second, 401)).toBe(true)
  })

  it('keeps its state for its user alone, whatever the umask', () => {
    const names = readdirSync(server.state, { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => name.endsWith('.lock'))).not.toEqual([])
    const open = names.filter((name) => (lstatSync(join(server.state, name)).mode & 0o077) !== 0)
    expect(open).toEqual([])
  })

  it('opens no debugger on SIGUSR1 in any of its processes, says so once in each, and goes on', async () => {
    const pids = [server.child.pid ?? 0, ...workersOf(server)]
    const said = () => server.stderr().match(/SIGUSR1 is ignored/g)?.length ?? 0
    for (const [index, pid] of pids.entries()) {
      process.kill(pid, 'SIGUSR1')
      await eventually(() => said() === index + 1)
      // The second one of the same minute is not reported.
      process.kill(pid, 'SIGUSR1')
    }
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    expect([pids.length, said()]).toEqual([3, 3])
    expect(server.stderr()).not.toContain('Debugger listening')
    expect([server.child.pid, ...workersOf(server)]).toEqual(pids)
  })

  it('replaces workers that die, and what they counted stays', async () => {
    const counted = await server.metric('iprisk_answers_total', 'tor')
    for (let i = 0; i < 10; i += 1) await check(server.port, key)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(counted + 10)
    const before = workersOf(server)
    expect(before).toHaveLength(2)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const up = await server.metric('iprisk_workers')
      return up === 2 && workersOf(server).every((pid) => !before.includes(pid))
    })
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(2)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(counted + 10 + 12)
    expect((await server.admin('/readyz')).status).toBe(200)
  })

  it('reports which kinds are covered today, and stays ready', async () => {
    // The table covered all kinds on its own day, 2026-08-22.
    const old = { missing: expect.arrayContaining(['tor', 'proxy']) as unknown }
    const ready = await server.admin('/readyz')
    expect(ready.status).toBe(200)
    expect(JSON.parse(ready.text)).toMatchObject({ status: 'ready', coverage: old })
    const { text } = await server.admin('/status')
    expect(JSON.parse(text)).toMatchObject({ table: { coverage: old } })
    expect(await server.metric('iprisk_kind_covered', 'tor')).toBe(0)
    const answer = await ask<CheckAnswer>({ port: server.port, key }, path, { ip: '9.1.2.3' })
    expect(answer.coverage).toMatchObject({ missing: [], partly: [] })
  })
})

describe('workers', () => {
  it('finish what they have begun and end when their primary is killed', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), workers: 2, state })
    const pids = workersOf(server)
    const slow = slowCheck(server, key)
    await slow.begun
    await server.stop('SIGKILL')
    // Nobody takes new connections any more.
    await eventually(async () => (await check(server.port, key)) === 0)
    expect(pids.some((pid) => existsSync(`/proc/${pid}`))).toBe(true)
    expect(await slow.finish()).toMatchObject([{ status: 200 }])
    const ended = (): boolean => pids.every((pid) => !existsSync(`/proc/${pid}`))
    await eventually(ended)
  })
})

/** A check whose body comes in two parts; the second one when it is told to. */
function slowCheck(
  server: Server,
  key: string,
): { readonly begun: Promise<unknown>; readonly finish: () => Promise<readonly Response[]> } {
  const body = '{"ip":"9.1.2.3"}'
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`)
  return {
    begun: eventually(async () => (await server.metric('iprisk_body_bytes')) > 0),
    finish: async () => {
      socket.write(body.slice(3))
      // It may have been closed by then: what it got until then is returned, instead of waiting.
      if (!socket.closed) await once(socket, 'close')
      return responsesIn(text)
    },
  }
}

describe('draining', () => {
  it('finishes a slow request, refuses new ones, is not ready, ends with 0', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), workers: 2, state })
    const slow = slowCheck(server, key)
    await slow.begun
    const ended = once(server.child, 'exit')
    server.child.kill('SIGTERM')
    await eventually(async () => (await server.admin('/readyz')).text.includes('draining'))
    expect((await server.admin('/readyz')).status).toBe(503)
    expect((await server.admin('/healthz')).status).toBe(200)
    await eventually(async () => (await check(server.port, key)) === 0)
    expect(server.child.exitCode).toBe(null)
    expect(await slow.finish()).toMatchObject([{ status: 200 }])
    expect(await ended).toEqual([0, null])
    expect(readdirSync(join(server.state, 'serving'))).toEqual([])
  })

  it('closes idle connections and ends at once', async () => {
    const server = await start({ table: newTable() })
    const idle = connect({ port: server.port, host: '127.0.0.1' })
    // Accepted, and not only in the kernel's queue: what waits there is reset.
    await eventually(async () => (await server.metric('iprisk_connections')) === 1)
    const closed = once(idle, 'close')
    const from = performance.now()
    expect(await server.stop('SIGINT')).toBe(0)
    await closed
    expect(performance.now() - from).toBeLessThan(3000)
  })
})

describe('a start that fails', () => {
  let taken: NetServer | undefined
  afterEach(() => {
    taken?.close()
  })

  async function exitOf(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: unknown; readonly text: string }> {
    const { child, stderr } = runServe(args, environment)
    const [code] = await once(child, 'exit')
    return { code, text: stderr() }
  }

  const small = ['--workers', '1', '--table', '/nonexistent', '--state']

  it('a port that another program has is a clear error', async () => {
    taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const port = String((taken.address() as AddressInfo).port)
    const failed = await exitOf(['--port', port, '--admin-port', '0', ...small, newState()])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain(`port ${port} of 127.0.0.1`)
    expect(failed.text).toContain('--port')
    const admin = await exitOf(['--port', '0', '--admin-port', port, ...small, newState()])
    expect(admin.code).toBe(1)
    expect(admin.text).toContain('--admin-port')
  })

  it('a wrong option ends the process, too, that has begun to wait for a table', async () => {
    const mark = randomUUID()
    const failed = await exitOf(['--no-such-option'], { MARK_OF_TEST: mark })
    expect(failed.code).toBe(2)
    await eventually(() => processesWith(mark).length === 0)
  })

  it('a trail of decisions that cannot be written is a clear error, and leaves nothing', async () => {
    const mark = randomUUID()
    const ports = ['--port', '0', '--admin-port', '0', ...small, newState()]
    const failed = await exitOf([...ports, '--decision-log', '/no/such/folder/decisions'], {
      MARK_OF_TEST: mark,
    })
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('/no/such/folder')
    await eventually(() => processesWith(mark).length === 0)
  })

  it('a state folder that cannot be made is a clear error', async () => {
    const file = join(newState(), 'file')
    writeFileSync(file, '')
    const failed = await exitOf(['--port', '0', '--admin-port', '0', ...small, join(file, 'state')])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('name another state folder with --state')
  })

  it('a Node without a binary of uWebSockets.js is told what to do', async () => {
    const hook = encodeURIComponent(
      'export const resolve = (name, context, next) => { if (name === "uWebSockets.js") throw new Error("no binary"); return next(name, context) }',
    )
    const program = encodeURIComponent(
      `import { register } from "node:module"; register("data:text/javascript,${hook}")`,
    )
    const failed = await exitOf(['--port', '0', '--admin-port', '0', ...small, newState()], {
      NODE_OPTIONS: `--import data:text/javascript,${program}`,
    })
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('Use Node 20, 21 or 22, or override')
  })
})

/** Processes that have `mark` in their environment. */
function processesWith(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false // It has ended.
    }
  })
}

describe('a server without a table', () => {
  const table = join(newState(), 'later.iprisk')
  let server: Server
  let key = ''
  beforeAll(async () => {
    const keyed = await keyedState()
    ;({ key } = keyed)
    server = await startServer({ table, workers: 2, state: keyed.state })
  })
  afterAll(() => server.stop('SIGKILL'))

  it('has four pages on its admin port, for GET and HEAD, and nothing else', async () => {
    expect((await server.admin('/')).status).toBe(404)
    expect((await server.admin('/v1/intelligence/ip-risk/check')).status).toBe(404)
    expect((await server.admin('/healthz?x')).status).toBe(200)
    const url = `http://127.0.0.1:${server.adminPort}/metrics`
    const post = await fetch(url, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('runs, is not ready, and takes the first one that comes', async () => {
    expect(server.stderr()).toContain(table)
    expect((await server.admin('/readyz')).text).toContain('no_table')
    expect((await server.admin('/healthz')).status).toBe(200)
    expect((await server.admin('/metrics')).text).not.toMatch(/^iprisk_table_age_seconds /m)
    expect(await statuses(server.port, key)).toEqual(new Set([503]))
    copyFileSync(newTable(), `${table}.part`)
    renameSync(`${table}.part`, table)
    await eventually(async () => (await server.admin('/readyz')).status === 200)
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
  })
})
