// Workers that grow, workers that die again and again, and a server that cannot take over. What
// clients see of deaths, restarts and takeovers, by the hundred: bench/faults/server/lives.ts.

import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import {
  type Server,
  newState,
  preloading,
  runServe,
  serversOfTests,
  workersOf,
} from '../server.ts'
import type { ServerStatus } from '../../../src/admin/status.ts'
import { newTable } from '../small-tables.ts'
import { eventually } from '../../eventually.ts'

const start = serversOfTests()

describe('a worker', () => {
  it('that holds too much is replaced after its successor listens, of two at once each in its turn', async () => {
    const flag = join(newState(), 'grown')
    // In the workers that the flag names, by 10 MB at a time: where the system is slow to hand out
    // memory, all of it at once would be a hang.
    const grow =
      `const fs = await import('node:fs'); const leak = []; const timer = setInterval(() => { try {` +
      ` if (!fs.readFileSync(${JSON.stringify(flag)}, 'utf8').split(' ').includes(String(process.pid))) return;` +
      ` if (leak.push(Buffer.alloc(1e7, 1)) === 20) clearInterval(timer) } catch {} }, 20)`
    const server = await start({
      table: newTable(),
      workers: 2,
      args: ['--worker-memory-mb', '150'],
      environment: preloading('worker-main.js', grow),
    })
    const before = workersOf(server)
    /** That listen and are not retired, and that do not listen yet. */
    const seen = { listening: [] as number[], starting: [] as number[] }
    const refused: string[] = []
    const poll = { on: true }
    const looking = (async () => {
      while (poll.on) {
        const { workers } = JSON.parse((await server.admin('/status')).text) as ServerStatus
        seen.listening.push(workers.each.filter((one) => one.listening && !one.retired).length)
        seen.starting.push(workers.each.filter((one) => !one.listening).length)
        const code = await tryConnection(server.port)
        if (code !== '') refused.push(code)
      }
    })()
    writeFileSync(flag, before.join(' '))
    await eventually(() => {
      const now = workersOf(server)
      return now.length === 2 && !now.some((pid) => before.includes(pid))
    })
    poll.on = false
    await looking
    expect(await server.metric('iprisk_worker_restarts_total', 'memory')).toBe(2)
    expect(Math.min(...seen.listening)).toBe(2)
    // One after the other: two successors at once would need the memory of four.
    expect(Math.max(...seen.starting)).toBe(1)
    expect(refused).toEqual([])
    expect((await server.admin('/readyz')).text).toContain('"ready"')
  })

  it('that dies while a successor of another one starts has one, too', async () => {
    const flag = join(newState(), 'slow')
    const wait = `const fs = await import('node:fs'); while (fs.existsSync(${JSON.stringify(flag)})) await new Promise((then) => setTimeout(then, 20))`
    const server = await start({
      table: newTable(),
      workers: 2,
      environment: preloading('worker-main.js', wait),
    })
    const before = workersOf(server)
    writeFileSync(flag, '')
    server.child.kill('SIGUSR2')
    await eventually(() => workersOf(server).length === 3)
    // The second: the first one's successor is what is being started.
    process.kill(Math.max(...before), 'SIGKILL')
    await eventually(() => workersOf(server).length === 2)
    rmSync(flag)
    await eventually(() => server.stderr().includes('Every worker was replaced'))
    await eventually(async () => (await server.metric('iprisk_workers')) === 2)
    expect(workersOf(server).filter((pid) => before.includes(pid))).toEqual([])
  })

  it('that dies again and again leaves the server ready but degraded', async () => {
    // Each has listened for a while when it dies, so that there is no back-off yet.
    const die = 'setTimeout(() => process.exit(3), 2500)'
    const server = await start({
      table: newTable(),
      workers: 2,
      environment: preloading('worker-main.js', die),
    })
    await eventually(async () => (await server.admin('/readyz')).text.includes('degraded'))
    expect(await server.metric('iprisk_degraded')).toBe(1)
    expect(await server.metric('iprisk_worker_restarts_total', 'crash')).toBeGreaterThanOrEqual(3)
    expect(server.stderr()).toContain('A worker died; replacing it.')
  })
})

/** Why a connection cannot be made; `''` where one can. */
function tryConnection(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve('')
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'))
  })
}

/** What one says that cannot take over from `server`. */
async function failedTakeover(
  server: Server,
  how: { readonly table?: string; readonly state?: string; readonly args?: readonly string[] },
): Promise<string> {
  const { table = newTable(), state = server.state, args = [] } = how
  const { child, stderr } = runServe(
    [
      ['--takeover', '--port', String(server.port), '--admin-port', String(server.adminPort)],
      ['--workers', '1', '--state', state, '--table', table, ...args],
    ].flat(),
  )
  const [code] = (await once(child, 'exit')) as unknown[]
  expect(code).toBe(1)
  return stderr()
}

describe('a server that takes over', () => {
  it('gives up where it has no table, and the one before it goes on', async () => {
    const server = await start({ table: newTable() })
    const said = await failedTakeover(server, { table: '/nonexistent' })
    expect(said).toContain('The server on the port keeps running: this server has no table')
    expect((await server.admin('/readyz')).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })

  it('gives up before the other one yields where its own settings are no good', async () => {
    const server = await start({ table: newTable() })
    const args = ['--admin-token-file', '/nonexistent']
    expect(await failedTakeover(server, { args })).toContain('The admin token in /nonexistent')
    // Of another folder: it can ask nobody, and the port is somebody's.
    const elsewhere = { state: newState(), args: ['--admin-port', '0'] }
    expect(await failedTakeover(server, elsewhere)).toContain('another process listens on it')
    expect((await server.admin('/readyz')).status).toBe(200)
  })

  it('runs without its admin port, and has it as soon as it is free', async () => {
    const table = newTable()
    const server = await start({ table })
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const ports = ['--port', String(server.port), '--admin-port', String(port)]
    const args = ['--takeover', ...ports]
    const next = await start({ table, state: server.state, args })
    // It says so after fifty tries, and that it serves after as long: either may come first.
    const told = 'This server keeps running and tries again.'
    await eventually(() => next.stderr().includes(told))
    other.close()
    const ready = await eventually(() => next.admin('/readyz').catch(() => undefined))
    expect(ready.status).toBe(200)
  })
})
