// The edges of a server's life: draining with clients that linger, starts that fail, tables that
// are damaged under it, clients that misbehave. The common course is in lifecycle.server.test.ts.

import { once } from 'node:events'
import { rmSync, truncateSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { keyedState, newState, runServe, serversOfTests, sleep } from '../server.ts'
import { converse, responsesIn } from '../../http/raw-socket.ts'
import { check, path, requestOf, statuses, tableId } from '../checks.ts'
import { newTable } from '../small-tables.ts'
import { eventually } from '../../eventually.ts'

const start = serversOfTests()

describe('draining', () => {
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
  async function exitOf(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: unknown; readonly text: string }> {
    const { child, stderr } = runServe(args, environment)
    const [code] = await once(child, 'exit')
    return { code, text: stderr() }
  }

  const small = ['--workers', '1', '--table', '/nonexistent', '--state']

  it('a port that another iprisk serves is not shared with it', async () => {
    const server = await start({ table: '/nonexistent' })
    const port = String(server.port)
    const failed = await exitOf(['--port', port, '--admin-port', '0', ...small, newState()])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('another process listens on it')
  })

  it('an address that this machine has not is a clear error', async () => {
    const args = ['--host', '203.0.113.1', '--port', '0', '--admin-port', '0', ...small]
    const failed = await exitOf([...args, newState()])
    expect(failed.code).toBe(1)
    expect(failed.text).toContain('203.0.113.1')
  })
})

describe('tables', () => {
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
      await converse(server.port, [garbage], { quietMs: 20, silentMs: 20 })
    }
    expect(await check(server.port, key)).toBe(200)
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
    // Nine of 25 were reset, maybe before a busy worker had read them.
    expect(await server.metric('iprisk_aborted_requests_total')).toBeGreaterThanOrEqual(16)
  })
})
