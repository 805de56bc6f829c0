// The life of a real server: keys that come and go, workers that die, tables that change, draining,
// ports that are taken, the admin port, and what is counted and logged meanwhile.

import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, type Server as NetServer, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { writeTable } from '../../build/write/file.ts'
import { revokeKey, rotateKey } from '../../src/account/issue.ts'
import { parseKeyText } from '../../src/account/key.ts'
import { openLmdbStore } from '../../src/account/lmdb.ts'
import { parseDay } from '../../src/base/day.ts'
import { smallContent, writeSmallTable } from '../table/small.ts'
import {
  type Server,
  makeKey,
  newState,
  runServe,
  sleep,
  startServer,
  waitFor,
  workersOf,
} from './server.ts'
import { converse, responsesIn } from './socket.ts'

const path = '/v1/intelligence/ip-risk/check'
const running: Server[] = []
const template = writeSmallTable()

/** A table file that the test may do anything to. */
function newTable(): string {
  const file = join(newState(), 'small.iprisk')
  copyFileSync(template, file)
  return file
}

async function start(options: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(options)
  running.push(server)
  return server
}

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop('SIGKILL')
})

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
  it('take effect within a second when made, rotated and revoked', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const key = await makeKey(server.state)
    await sleep(1000)
    expect(await statuses(server.port, key)).toEqual(new Set([200]))

    const store = await openLmdbStore(server.state)
    const { id } = parseKeyText(key)!
    const { text: second } = await rotateKey(store, id, { now: Date.now(), graceMs: 0 })
    await sleep(1000)
    expect(await statuses(server.port, key)).toEqual(new Set([401]))
    expect(await statuses(server.port, second)).toEqual(new Set([200]))

    await revokeKey(store, id, Date.now())
    await store.close()
    await sleep(1000)
    expect(await statuses(server.port, second)).toEqual(new Set([401]))
  })
})

describe('workers', () => {
  it('are replaced when they die, and what they counted stays', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
    for (let i = 0; i < 10; i += 1) await check(server.port, key)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(10)
    const before = workersOf(server)
    expect(before).toHaveLength(2)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await waitFor(async () => {
      const up = await server.metric('iprisk_workers')
      return up === 2 && workersOf(server).every((pid) => !before.includes(pid)) ? true : undefined
    })
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(2)
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(10 + 12)
    expect((await server.admin('/readyz')).status).toBe(200)
  })

  it('end when their primary is killed', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const pids = workersOf(server)
    await server.stop('SIGKILL')
    const ended = (): boolean => pids.every((pid) => !existsSync(`/proc/${pid}`))
    expect(await waitFor(() => (ended() ? true : undefined))).toBe(true)
  })
})

describe('draining', () => {
  it('finishes a slow request, refuses new ones, is not ready, ends with 0', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
    const body = '{"ip":"9.1.2.3"}'
    const slow = connect({ port: server.port, host: '127.0.0.1' })
    let text = ''
    slow.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`
    slow.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`)
    await sleep(200)
    const ended = once(server.child, 'exit')
    server.child.kill('SIGTERM')
    await sleep(700)
    expect((await server.admin('/readyz')).text).toContain('draining')
    expect((await server.admin('/readyz')).status).toBe(503)
    expect((await server.admin('/healthz')).status).toBe(200)
    expect(await check(server.port, key)).toBe(0)
    expect(server.child.exitCode).toBe(null)
    slow.write(body.slice(3))
    await once(slow, 'close')
    expect(responsesIn(text)).toMatchObject([{ status: 200 }])
    expect(await ended).toEqual([0, null])
    expect(readdirSync(join(server.state, 'serving'))).toEqual([])
  })

  it('closes idle connections and ends at once', async () => {
    const server = await start({ table: newTable() })
    const idle = connect({ port: server.port, host: '127.0.0.1' })
    await once(idle, 'connect')
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
    await sleep(200)
    const from = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - from).toBeGreaterThan(900)
    expect(server.stderr()).toContain('cut off')
  })

  it('takes one signal that comes twice at once for one', async () => {
    const server = await start({ table: newTable() })
    const ended = once(server.child, 'exit')
    server.child.kill('SIGINT')
    server.child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('loses no request of clients that reuse connections', async () => {
    const server = await start({ table: newTable(), workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
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
    await sleep(300)
    const exit = server.stop()
    await Promise.all(clients)
    expect(await exit).toBe(0)
    expect(served).toBeGreaterThan(50)
    expect(refused).toBe(8)
    expect(wrong).toBe(0)
  })
})

/** Checks over one connection, one after the other, until the server closes it. */
function keptCheck(
  port: number,
  key: string,
): Promise<{ readonly served: number; readonly wrong: number; readonly refused: boolean }> {
  const body = '{"ip":"9.1.2.3"}'
  const request = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
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
  /** Another table: the same content as of another day. */
  function otherTable(day: string): string {
    const file = `${newTable()}.${day}`
    writeTable(file, { ...smallContent(), asOf: parseDay(day)! })
    return file
  }

  it('without one it runs, is not ready, and takes the first one that comes', async () => {
    const table = join(newState(), 'later.iprisk')
    const server = await start({ table, workers: 2 })
    const key = await makeKey(server.state)
    expect(server.stderr()).toContain(table)
    await sleep(600)
    expect((await server.admin('/readyz')).text).toContain('no_table')
    expect((await server.admin('/healthz')).status).toBe(200)
    expect((await server.admin('/metrics')).text).not.toMatch(/^iprisk_table_age_seconds /m)
    expect(await statuses(server.port, key)).toEqual(new Set([503]))
    copyFileSync(newTable(), `${table}.part`)
    renameSync(`${table}.part`, table)
    await waitFor(async () => ((await server.admin('/readyz')).status === 200 ? true : undefined))
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
  })

  it('a new one is swapped in under load, without an error', async () => {
    const table = newTable()
    const server = await start({ table, workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
    const before = await tableId(server.port, key)
    const seen = new Set<number>()
    const load = { on: true }
    const client = (async () => {
      while (load.on) seen.add(await check(server.port, key))
    })()
    for (const day of ['2026-08-23', '2026-08-24', '2026-08-25']) {
      renameSync(otherTable(day), table)
      const id = `${day.replaceAll('-', '')}-`
      await waitFor(async () =>
        (await tableId(server.port, key)).startsWith(id) ? true : undefined,
      )
    }
    load.on = false
    await client
    expect(seen).toEqual(new Set([200]))
    for (let i = 0; i < 12; i += 1) {
      expect(await tableId(server.port, key)).toMatch(/^20260825-/)
    }
    expect(before).toMatch(/^20260822-/)
    expect((await server.admin('/metrics')).text).toContain('as_of="2026-08-25"')
    // The one that answers, and the one to go back to.
    expect(readdirSync(join(server.state, 'serving'))).toHaveLength(2)
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
  })

  it('a broken one is refused with its section, and the one in use stays', async () => {
    const table = newTable()
    const server = await start({ table, workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
    const good = await tableId(server.port, key)
    const broken = newTable()
    truncateSync(broken, 5_000_000)
    renameSync(broken, table)
    await waitFor(() => (/not used/.test(server.stderr()) ? true : undefined))
    expect(server.stderr()).toContain(`${table} is damaged in section trailer at offset`)
    writeFileSync(`${table}.text`, 'no table')
    renameSync(`${table}.text`, table)
    await waitFor(() => (server.stderr().match(/not used/g)?.length === 2 ? true : undefined))
    expect(await tableId(server.port, key)).toBe(good)
    expect((await server.admin('/readyz')).status).toBe(200)
    expect(readdirSync(join(server.state, 'serving'))).toHaveLength(1)
    // And a good one after it is taken.
    renameSync(otherTable('2026-08-30'), table)
    await waitFor(async () =>
      (await tableId(server.port, key)).startsWith('20260830-') ? true : undefined,
    )
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
    const server = await start({ table, workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
    const id = await tableId(server.port, key)
    truncateSync(table, 100)
    expect(await statuses(server.port, key)).toEqual(new Set([200]))
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
    const server = await start({ table: newTable(), workers: 2 })
    const key = await makeKey(server.state)
    await sleep(600)
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
    const server = await start({ table: newTable() })
    const key = await makeKey(server.state)
    await sleep(600)
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
