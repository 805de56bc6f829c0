// Workers that grow, workers that die again and again, and a server that cannot take over. What
// clients see of deaths, restarts and takeovers, by the hundred: bench/proof/lives.ts.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { newState, preloading, runServe, serversOfTests, waitFor, workersOf } from './server.ts'
import { newTable } from './tables.ts'

const start = serversOfTests()

describe('a worker', () => {
  it('that holds more memory than it may is replaced after its successor listens', async () => {
    const flag = join(newState(), 'grown')
    // The first one to come after the flag; it takes the flag away.
    const grow =
      `const fs = await import('node:fs'); setInterval(() => { try { fs.unlinkSync(${JSON.stringify(flag)});` +
      ` globalThis.leak = Buffer.alloc(2e8, 1) } catch {} }, 50)`
    const server = await start({
      table: newTable(),
      workers: 2,
      args: ['--worker-memory-mb', '150'],
      environment: preloading('worker-main.js', grow),
    })
    const before = workersOf(server)
    const seen = new Set<number>()
    const poll = { on: true }
    const looking = (async () => {
      while (poll.on) seen.add(await server.metric('iprisk_workers'))
    })()
    writeFileSync(flag, '')
    await waitFor(async () =>
      (await server.metric('iprisk_worker_restarts_total', 'memory')) === 1 ? true : undefined,
    )
    await waitFor(() => {
      const now = workersOf(server)
      const replaced = now.filter((pid) => !before.includes(pid)).length
      return now.length === 2 && replaced === 1 ? true : undefined
    })
    poll.on = false
    await looking
    expect(Math.min(...seen)).toBe(2)
    expect((await server.admin('/readyz')).text).toContain('"ready"')
  })

  it('that dies again and again leaves the server ready but degraded', async () => {
    // Each has listened for a while when it dies, so that there is no back-off yet.
    const die = 'setTimeout(() => process.exit(3), 2500)'
    const server = await start({
      table: newTable(),
      workers: 2,
      environment: preloading('worker-main.js', die),
    })
    await waitFor(async () =>
      (await server.admin('/readyz')).text.includes('degraded') ? true : undefined,
    )
    expect(await server.metric('iprisk_degraded')).toBe(1)
    expect(await server.metric('iprisk_worker_restarts_total', 'crash')).toBeGreaterThanOrEqual(3)
    expect(server.stderr()).toContain('A worker died; replacing it.')
  })
})

describe('a server that takes over', () => {
  it('gives up where it has no table, and the one before it goes on', async () => {
    const server = await start({ table: newTable() })
    const { child, stderr } = runServe(
      [
        ['--takeover', '--port', String(server.port), '--admin-port', String(server.adminPort)],
        ['--workers', '1', '--state', server.state, '--table', '/nonexistent'],
      ].flat(),
    )
    const [code] = await once(child, 'exit')
    expect(code).toBe(1)
    expect(stderr()).toContain('The server that has the port goes on: this one has no table')
    expect((await server.admin('/readyz')).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })
})
