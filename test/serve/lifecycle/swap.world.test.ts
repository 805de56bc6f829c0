// What becomes of new tables in a running server: taken in, refused, forced, rolled back, held,
// built by the server itself; and what a swap and an end must not disturb: readiness, the primary's
// own loop, an end that does not wait. Swaps by the hundred, under load:
// bench/faults/server/swaps.ts.

import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { threadsOf } from '../../../bench/harness/cpu.ts'
import {
  publishSample,
  sampleDay,
  writeSampleWorkspace,
} from '../../../bench/faults/compiler/sample.ts'
import { mappedTables } from '../../../bench/faults/server/served.ts'
import { serveFolder } from '../../../bench/harness/site.ts'
import { runProgram } from '../../cli/program.ts'
import { listed } from '../../table/small-table.ts'
import {
  type Server,
  keyedState,
  newState,
  plainPriority,
  preloading,
  runServe,
  serversOfTests,
  workersOf,
} from '../server.ts'
import { newTable, replaceTable } from '../small-tables.ts'
import { buildWaitMs, eventually } from '../../eventually.ts'

const start = serversOfTests()

interface Status {
  readonly status: string
  readonly table: { readonly as_of: string } | null
  readonly tables: {
    readonly swaps: number
    readonly refusals: number
    readonly held: string | null
    readonly last_refusal: { readonly code: string; readonly reason: string } | null
  }
  readonly refresh: { readonly failures: number; readonly last_failure: unknown } | null
}

async function statusOf(server: Server): Promise<Status> {
  return JSON.parse((await server.admin('/status')).text) as Status
}

async function asOf(server: Server): Promise<string | undefined> {
  return (await statusOf(server)).table?.as_of
}

/** What the operator's command prints, and its exit code. */
async function order(
  server: Server,
  ...words: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const args = [...words, '--port', String(server.port), '--state', server.state]
  const { code, out, err } = await runProgram(args, { cwd: server.state })
  return { code, text: out + err }
}

/** A disk that never answers once the file `flag` exists: who takes a table in waits for ever. */
function slowDisk(flag: string): Readonly<Record<string, string>> {
  const program =
    `const { existsSync } = await import('node:fs');` +
    `if (existsSync(${JSON.stringify(flag)})) await new Promise(() => setInterval(() => 0, 1e6))`
  return preloading('prepare-table-main.js', program)
}

describe('an operator', () => {
  it('reloads, rolls back, finds the rollback held by the next server, and lets go', async () => {
    const table = newTable()
    const state = newState()
    const server = await start({ table, state, workers: 2 })
    expect(await order(server, 'rollback')).toMatchObject({ code: 1 })
    replaceTable(table, '2026-08-23')
    expect(await order(server, 'reload')).toMatchObject({ code: 0 })
    expect(await asOf(server)).toBe('2026-08-23')
    expect((await order(server, 'reload')).text).toContain('is already in use')

    expect(await order(server, 'rollback')).toMatchObject({ code: 0 })
    expect(await asOf(server)).toBe('2026-08-22')
    for (const pid of workersOf(server)) expect(mappedTables(pid)).toHaveLength(1)
    // The same table comes again, as a build by the same feeds would make it.
    replaceTable(table, '2026-08-23')
    server.child.kill('SIGHUP')
    await eventually(() => server.stderr().includes('will not be loaded until a reload'))
    expect(await asOf(server)).toBe('2026-08-22')
    expect(await server.metric('iprisk_table_held')).toBe(1)
    expect(await server.stop()).toBe(0)

    const next = await start({ table, state, workers: 1 })
    expect(await asOf(next)).toBe('2026-08-22')
    expect((await statusOf(next)).tables.held).toMatch(/^20260823-/)
    expect(await order(next, 'reload')).toMatchObject({ code: 0 })
    expect(await asOf(next)).toBe('2026-08-23')
    expect((await statusOf(next)).tables.held).toBe(null)
    expect(readdirSync(state).filter((name) => name.startsWith('rollback'))).toEqual([])
  })

  it('is told why a table is refused, and may force it', async () => {
    const table = newTable()
    const server = await start({ table })
    const refusals = (reason: string): Promise<number> =>
      server.metric('iprisk_table_refusals_total', `{reason="${reason}"}`)
    replaceTable(table, '2026-08-23', [...listed, ['8.8.8.8', 'tor', '']])
    const refused = await order(server, 'reload')
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.text).toContain('the canary 8.8.8.8 (Google Public DNS, public resolver)')
    const { last_refusal: last } = (await statusOf(server)).tables
    expect(last).toMatchObject({ code: 'canary', reason: expect.stringContaining('is called tor') })
    expect(server.stderr()).toContain('The new table is not used')
    expect(await refusals('canary')).toBeGreaterThanOrEqual(1)
    expect(await asOf(server)).toBe('2026-08-22')
    expect(await order(server, 'reload', '--force')).toMatchObject({ code: 0 })
    expect(await asOf(server)).toBe('2026-08-23')
    // What the process that takes it in threw is counted by its code.
    for (const [reason, content] of [
      ['unreadable', ''],
      ['damaged', 'no table at all'],
    ] as const) {
      expect(await refusals(reason)).toBe(0)
      writeFileSync(`${table}.new`, content)
      renameSync(`${table}.new`, table)
      expect(await order(server, 'reload')).toMatchObject({ code: 1 })
      expect([reason, (await refusals(reason)) > 0]).toEqual([reason, true])
    }
    rmSync(table)
    expect(await order(server, 'reload')).toMatchObject({ code: 1 })
    expect(await refusals('missing')).toBe(1)
    expect(await refusals('other')).toBe(0)
  })

  it('who asks where no server runs is told so', async () => {
    const state = newState()
    const { code, err } = await runProgram(['reload', '--state', state], { cwd: state })
    expect([code, err]).toEqual([1, expect.stringContaining('No server runs on port 8080')])
  })
})

describe('a server that refreshes its table', { timeout: 2 * buildWaitMs }, () => {
  it('builds one at the lowest priority and takes it in, without one to begin with', async () => {
    const mirror = newState()
    publishSample(mirror, sampleDay)
    const site = await serveFolder(mirror)
    const folder = newState()
    writeSampleWorkspace(folder, site.url)
    const args = ['--refresh-every', '1h', '--config', join(folder, 'iprisk.json')]
    const server = await start({ table: join(folder, 'world.iprisk'), args })
    // Beside its one worker.
    const builder = await eventually(() => workersOf(server).find((pid) => isBuild(pid)))
    // It is seen before it is lowered.
    const others = () => (threadsOf(builder) ?? []).filter(({ nice }) => nice !== 19)
    await expect.poll(others, { timeout: 30_000 }).toEqual([])
    hurry(builder)
    await eventually(
      async () => (await statusOf(server)).table !== null,
      buildWaitMs,
      server.stderr,
    )
    site.close()
    expect((await server.admin('/readyz')).status).toBe(200)
    expect(await statusOf(server)).toMatchObject({
      refresh: { every_ms: 3_600_000, running: false, runs: 1, failures: 0, last_failure: null },
    })
  })

  it('says why it could not', async () => {
    const folder = newState()
    const config = join(folder, 'iprisk.json')
    writeFileSync(config, JSON.stringify({ build: { offline: true, networks: ['gone.csv'] } }))
    const args = ['--refresh-every', '1h', '--config', config]
    const table = join(folder, 'world.iprisk')
    const server = await start({ table, args, environment: plainPriority() })
    await eventually(
      async () => (await statusOf(server)).refresh?.failures || undefined,
      buildWaitMs,
      server.stderr,
    )
    expect(await statusOf(server)).toMatchObject({
      refresh: { last_failure: { reason: expect.stringContaining('gone.csv') } },
    })
    expect(server.stderr()).toContain('The table was not refreshed')
  })
})

/** Raises the priority where the system allows it, for other tests have the cores. */
function hurry(pid: number): void {
  for (const { tid } of threadsOf(pid) ?? []) {
    try {
      setPriority(tid, 0)
    } catch {
      return
    }
  }
}

function isBuild(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('build')
  } catch {
    return false
  }
}

describe('a swap', () => {
  it('leaves the server ready all the time', async () => {
    const table = newTable()
    const server = await start({ table, workers: 4 })
    const seen = new Set<number>()
    let looks = 0
    const poll = { on: true }
    const looking = (async () => {
      for (; poll.on; looks += 1) seen.add((await server.admin('/readyz')).status)
    })()
    const days = ['2026-08-23', '2026-08-24', '2026-08-25']
    for (const day of days.slice(0, 3)) {
      replaceTable(table, day)
      server.child.kill('SIGHUP')
      await eventually(async () => (await asOf(server)) === day)
    }
    poll.on = false
    await looking
    expect([...seen]).toEqual([200])
    expect(looks).toBeGreaterThan(100)
  })

  it('holds up neither the primary nor its workers while the disk is slow', async () => {
    const table = newTable()
    const flag = join(newState(), 'slow')
    const { state, key } = await keyedState()
    const server = await start({ table, state, workers: 2, environment: slowDisk(flag) })
    await eventually(() => workersOf(server).length === 2)
    writeFileSync(flag, '')
    replaceTable(table, '2026-08-23')
    // One more child: it waits for the disk.
    await eventually(() => workersOf(server).length > 2)
    expect((await server.admin('/healthz')).status).toBe(200)
    expect((await server.admin('/readyz')).status).toBe(200)
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{"ip":"9.1.2.3"}',
    })
    expect(answer.status).toBe(200)
    const from = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - from).toBeLessThan(4000)
    expect(server.stderr()).not.toContain('not used')
  })
})

describe('an end', () => {
  it('that is asked for while the first table is being read does not wait for it', async () => {
    const state = newState()
    const flag = join(newState(), 'slow')
    writeFileSync(flag, '')
    const ports = ['--port', '0', '--admin-port', '0', '--workers', '1']
    const { child, stderr } = runServe(
      [...ports, '--state', state, '--table', newTable()],
      slowDisk(flag),
    )
    await eventually(() => workersOf({ child }).length === 2)
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
    const server = await start({ table: newTable() })
    rmSync(join(server.state, 'serving'), { recursive: true })
    expect(await server.stop()).toBe(0)
    expect(server.stderr()).not.toContain('ENOENT')
    expect(existsSync(join(server.state, `control-${server.port}.sock`))).toBe(false)
  })
})
