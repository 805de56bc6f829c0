// The life of a real server: keys that come and go, workers that die, tables that change, draining,
// ports that are taken, the admin port, and what is counted and logged meanwhile.

import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { type AddressInfo, type Server as NetServer, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { revokeKey, rotateKey } from '../../src/account/keys/issue-key.ts'
import { parseKeyText } from '../../src/account/keys/key-text.ts'
import { createQuotaLedger } from '../../src/account/limits/quota-ledger.ts'
import {
  openLmdbCounterStore,
  openLmdbKeyStore,
} from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../src/account/limits/quota-period.ts'
import {
  type Server,
  keyedState,
  makeKey,
  newState,
  runServe,
  serversOfTests,
  sleep,
  workersOf,
} from './server.ts'
import { type Response, converse, responsesIn } from '../http/raw-socket.ts'
import { newTable } from './small-tables.ts'
import { eventually } from '../eventually.ts'

const path = '/v1/intelligence/ip-risk/check'
const start = serversOfTests()

/** The status of one check; 0 where there is no answer. */
async function check(port: number, key: string, ip = '9.1.2.3'): Promise<number> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
      body: JSON.stringify({ ip }),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

async function tableId(port: number, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    body: '{"ip":"9.1.2.3"}',
  })
  const { table } = (await response.json()) as { readonly table: string }
  return table
}

/** Asks a few times, so that every worker has been asked. */
async function statuses(port: number, key: string, count = 12): Promise<Set<number>> {
  const seen = new Set<number>()
  for (let i = 0; i < count; i += 1) seen.add(await check(port, key))
  return seen
}

describe('keys', () => {
  // Within a second, on every worker: settings-effect.world.test.ts.
  it('take effect when made, rotated and revoked', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const become = (key: string, status: number): Promise<boolean> =>
      eventually(async () => {
        const seen = await statuses(server.port, key)
        return seen.size === 1 && seen.has(status)
      })
    const key = await makeKey(server.state)
    expect(await become(key, 200)).toBe(true)

    const store = await openLmdbKeyStore(server.state)
    const { id } = parseKeyText(key)!
    const { text: second } = await rotateKey(store, id, { now: Date.now(), graceMs: 0 })
    expect(await become(key, 401)).toBe(true)
    expect(await become(second, 200)).toBe(true)

    await revokeKey(store, id, Date.now())
    await store.close()
    expect(await become(second, 401)).toBe(true)
  })
})

describe('workers', () => {
  it('are replaced when they die, and what they counted stays', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), workers: 2, state })
    for (let i = 0; i < 10; i += 1) await check(server.port, key)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(10)
    const before = workersOf(server)
    expect(before).toHaveLength(2)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const up = await server.metric('iprisk_workers')
      return up === 2 && workersOf(server).every((pid) => !before.includes(pid))
    })
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(2)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(10 + 12)
    expect((await server.admin('/readyz')).status).toBe(200)
  })

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
      await once(socket, 'close')
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

  it('is not ready before the port is closed, and answers with close meanwhile', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), args: ['--grace-seconds', '2'], state })
    const ended = once(server.child, 'exit')
    server.child.kill('SIGTERM')
    await eventually(async () => (await server.admin('/readyz')).status === 503)
    const { text } = await converse(server.port, [requestOf(key)])
    expect(responsesIn(text)).toMatchObject([{ status: 200, headers: { connection: 'close' } }])
    expect(await ended).toEqual([0, null])
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

  it('cuts off what is still open when the time is over', async () => {
    const server = await start({ table: newTable(), args: ['--drain-seconds', '1'] })
    const stuck = connect({ port: server.port, host: '127.0.0.1' })
    stuck.on('error', () => undefined)
    stuck.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc')
    await eventually(async () => (await server.metric('iprisk_connections')) === 1)
    const from = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - from).toBeGreaterThan(900)
    expect(server.stderr()).toContain('cut off')
  })

  it('gives back leases without any time for it, also those of a worker that lingers', async () => {
    const { state, key } = await keyedState({ limits: { quotaPerMonth: 1000 } })
    const server = await start({ table: newTable(), args: ['--drain-seconds', '0'], state })
    const kept = connect({ port: server.port, host: '127.0.0.1' })
    kept.write(requestOf(key))
    await once(kept, 'data')
    server.child.kill('SIGUSR2')
    await eventually(
      async () => (await server.admin('/status')).text.includes('"retired":true') || undefined,
    )
    expect(await check(server.port, key)).toBe(200)
    expect(await server.stop()).toBe(0)
    expect(server.stderr()).not.toContain('killed')
    const counters = await openLmdbCounterStore(server.state)
    const usage = await createQuotaLedger(counters).usage(monthOf(Date.now()))
    await counters.close()
    expect([...usage.values()]).toEqual([2])
  })

  it('takes one signal that comes twice at once for one', async () => {
    const server = await start({ table: newTable() })
    const ended = once(server.child, 'exit')
    server.child.kill('SIGINT')
    server.child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('loses no request of clients that reuse connections', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), workers: 2, state })
    let wrong = 0
    let served = 0
    let refused = 0
    const one = async (): Promise<void> => {
      for (;;) {
        const heard = await keptCheck(server.port, key)
        served += heard.served
        wrong += heard.wrong
        if (heard.refused) {
          refused += 1
          return
        }
      }
    }
    const clients = Array.from({ length: 8 }, one)
    await eventually(async () => (await server.metric('iprisk_answers_total', 'tor')) > 50)
    const exit = server.stop()
    await Promise.all(clients)
    expect(await exit).toBe(0)
    expect(served).toBeGreaterThan(50)
    expect(refused).toBe(8)
    expect(wrong).toBe(0)
  })
})

function requestOf(key: string): string {
  const body = '{"ip":"9.1.2.3"}'
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Checks over one connection, one after the other, until the server closes it. */
function keptCheck(
  port: number,
  key: string,
): Promise<{ readonly served: number; readonly wrong: number; readonly refused: boolean }> {
  const request = requestOf(key)
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let served = 0
    let open = false
    let sent = false
    const ask = (): void => {
      if (socket.destroyed || socket.readableEnded) return
      sent = true
      socket.write(request)
    }
    socket.on('connect', () => {
      open = true
      ask()
    })
    socket.on('data', (chunk) => {
      sent = false
      served += 1
      if (!/^connection: close/im.test(chunk.toString('latin1'))) setTimeout(ask, 1)
    })
    socket.on('error', () => undefined)
    // Lost is a request on a connection that worked before. One that met a closing door is not: the
    // kernel had taken its connection, and no worker ever saw it.
    socket.on('close', () => {
      resolve({ served, wrong: sent && served > 0 ? 1 : 0, refused: !open })
    })
  })
}

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

  it('a port that another iprisk serves is not shared with it', async () => {
    const server = await start({ table: '/nonexistent' })
    const port = String(server.port)
    const failed = await exitOf(['--port', port, '--admin-port', '0', ...small, newState()])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('another process listens on it')
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
    expect(failed.text).toContain('run Node 20, 21 or 22, or override')
  })

  it('an address that this machine has not is a clear error', async () => {
    const args = ['--host', '203.0.113.1', '--port', '0', '--admin-port', '0', ...small]
    const failed = await exitOf([...args, newState()])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('203.0.113.1')
  })
})

describe('tables', () => {
  it('without one it runs, is not ready, and takes the first one that comes', async () => {
    const table = join(newState(), 'later.iprisk')
    const { state, key } = await keyedState()
    const server = await start({ table, workers: 2, state })
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

  it('one that is broken at the start is refused; the server runs without', async () => {
    const table = newTable()
    truncateSync(table, 5_000_000)
    const server = await start({ table })
    expect((await server.admin('/readyz')).text).toContain('no_table')
    expect(server.stderr()).toContain(`${table} is damaged in section trailer at offset`)
    expect(server.stderr()).not.toContain('.part')
  })

  it('writing over the file in place, truncating it and removing it hurt nobody', async () => {
    const table = newTable()
    const { state, key } = await keyedState()
    const server = await start({ table, workers: 2, state })
    const id = await tableId(server.port, key)
    truncateSync(table, 100)
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    // As long as it takes to look at the file twice: nothing may come of it.
    await sleep(2500)
    expect(await tableId(server.port, key)).toBe(id)
    rmSync(table)
    await sleep(2500)
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
  })
})

describe('the admin port', () => {
  it('counts what was answered, with help and type for every metric', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), workers: 2, state })
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

  it('has four pages, for GET and HEAD, and nothing else', async () => {
    const server = await start({ table: '/nonexistent' })
    expect((await server.admin('/')).status).toBe(404)
    expect((await server.admin('/v1/intelligence/ip-risk/check')).status).toBe(404)
    expect((await server.admin('/healthz?x')).status).toBe(200)
    const url = `http://127.0.0.1:${server.adminPort}/metrics`
    const post = await fetch(url, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})

describe('clients that misbehave', () => {
  it('hurt nobody: gone in the middle, silent, or sending garbage', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), state })
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: 16\r\n\r\n`
    for (let i = 0; i < 50; i += 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(i % 2 === 0 ? `${head}{"ip"` : head.slice(0, i * 3))
      await sleep(2)
      if (i % 3 === 0) socket.resetAndDestroy()
      else socket.destroy()
    }
    for (let i = 0; i < 20; i += 1) {
      const garbage = Buffer.from(Array.from({ length: 500 }, (_, n) => (n * i * 31 + i) & 0xff))
      await converse(server.port, [garbage], { quietMs: 20 })
    }
    expect(await check(server.port, key)).toBe(200)
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
    // Nine of 25 were reset, maybe before a busy worker had read them.
    expect(await server.metric('iprisk_aborted_requests_total')).toBeGreaterThanOrEqual(16)
  })
})
