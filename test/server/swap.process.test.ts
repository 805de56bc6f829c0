// What a swap and an end must not disturb: readiness, answers, the primary's own loop, and an end
// that does not wait. A named pipe in the table's place stands for a disk that never answers.

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { writeTable } from '../../build/write/file.ts'
import { parseDay } from '../../src/base/day.ts'
import { smallContent, writeSmallTable } from '../table/small.ts'
import { worldTable } from '../world.ts'
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

const template = writeSmallTable()
const running: Server[] = []
const agent = new Agent({ keepAlive: true, maxSockets: 4 })

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop('SIGKILL')
})

async function start(table: string, workers = 2): Promise<Server> {
  const server = await startServer({ table, workers })
  running.push(server)
  return server
}

function newTable(): string {
  const file = join(newState(), 'small.iprisk')
  copyFileSync(template, file)
  return file
}

/** The same content as of another day, renamed into the place of `table`. */
function replace(table: string, day: string): void {
  writeTable(`${table}.new`, { ...smallContent(), asOf: parseDay(day)! })
  renameSync(`${table}.new`, table)
}

/** A pipe that nobody ever writes to: whoever opens it to read waits for ever. */
function newPipe(): string {
  const path = join(newState(), 'pipe.iprisk')
  execFileSync('sh', ['-c', 'mkfifo "$0"', path])
  return path
}

async function inUse(server: Server, asOf: string): Promise<void> {
  await waitFor(async () =>
    (await server.metric('iprisk_table_info', `as_of="${asOf}"`)) === 1 ? true : undefined,
  )
}

/** The status of one request over a kept connection. */
function statusOf(port: number, path: string, key = ''): Promise<number> {
  const body = key === '' ? '' : '{"ip":"9.1.2.3"}'
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        port,
        host: '127.0.0.1',
        path,
        agent,
        method: key === '' ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-length': body.length },
      },
      (incoming) => {
        incoming.resume().on('end', () => resolve(incoming.statusCode ?? 0))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

describe('readiness', () => {
  it('stays while tables are swapped', async () => {
    const table = newTable()
    const server = await start(table, 4)
    const seen = new Map<number, number>()
    const poll = { on: true }
    const look = async (): Promise<void> => {
      while (poll.on) {
        const status = await statusOf(server.adminPort, '/readyz')
        seen.set(status, (seen.get(status) ?? 0) + 1)
      }
    }
    const looks = [look(), look(), look()]
    for (const asOf of ['2026-08-23', '2026-08-24', '2026-08-25', '2026-08-26']) {
      replace(table, asOf)
      await inUse(server, asOf)
    }
    poll.on = false
    await Promise.all(looks)
    expect([...seen.keys()]).toEqual([200])
    expect(seen.get(200)).toBeGreaterThan(100)
  })
})

describe('a swap', () => {
  it('holds up neither the primary nor its workers while the disk is slow', async () => {
    const table = newTable()
    const server = await start(table)
    const key = await makeKey(server.state)
    await sleep(600)
    const before = workersOf(server).length
    renameSync(newPipe(), table)
    // One more child: it waits for the pipe.
    await waitFor(() => (workersOf(server).length > before ? true : undefined))
    expect(await statusOf(server.adminPort, '/healthz')).toBe(200)
    expect(await statusOf(server.adminPort, '/readyz')).toBe(200)
    expect(await statusOf(server.port, '/v1/intelligence/ip-risk/check', key)).toBe(200)
    const from = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - from).toBeLessThan(4000)
    expect(server.stderr()).not.toContain('not used')
  })

  it('stalls no answer for long', async () => {
    const world = worldTable('2026-08-22')
    const big = existsSync(world) ? world : template
    const table = join(newState(), 'big.iprisk')
    copyFileSync(big, table)
    const server = await start(table, 1)
    const key = await makeKey(server.state)
    await sleep(600)
    const load = { on: true }
    const delays: number[] = []
    const asking = (async () => {
      while (load.on) {
        const from = performance.now()
        expect(await statusOf(server.port, '/v1/intelligence/ip-risk/check', key)).toBe(200)
        delays.push(performance.now() - from)
      }
    })()
    await sleep(500)
    const calm = Math.max(...delays.splice(0).slice(20))
    for (let i = 1; i <= 3; i += 1) {
      await copyFile(big, `${table}.new`)
      renameSync(`${table}.new`, table)
      await waitFor(
        () => (server.stderr().match(/A new table answers/g)?.length === i ? true : undefined),
        60_000,
      )
    }
    load.on = false
    await asking
    const worst = Math.max(...delays)
    process.stderr.write(
      `slowest check: ${calm.toFixed(1)} ms before, ${worst.toFixed(1)} ms during three swaps\n`,
    )
    // Both cores copy and verify meanwhile: a bound for stalls without end, not for speed.
    expect(worst).toBeLessThan(3000)
  })
})

describe('an end', () => {
  it('that is asked for while the first table is being read does not wait for it', async () => {
    const state = newState()
    const ports = ['--port', '0', '--admin-port', '0', '--workers', '1']
    const { child, stderr } = runServe([...ports, '--state', state, '--table', newPipe()])
    await waitFor(() => (workersOf({ child }).length === 2 ? true : undefined))
    const ended = once(child, 'exit')
    const from = performance.now()
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
    expect(await ended).toEqual([0, null])
    clearTimeout(late)
    expect(performance.now() - from).toBeLessThan(4000)
    expect(stderr()).not.toContain('iprisk serves')
    expect(readdirSync(join(state, 'serving'))).toEqual([])
  })

  it('is clean though somebody has removed the copies', async () => {
    const server = await start(newTable())
    rmSync(join(server.state, 'serving'), { recursive: true })
    expect(await server.stop()).toBe(0)
    expect(server.stderr()).not.toContain('ENOENT')
  })
})
