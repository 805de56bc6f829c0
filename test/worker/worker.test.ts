// One worker in this process on a real port, made of parts that fail: what a client sees, what the
// log says, and that the process lives.

import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Account, type AccountOptions, openAccount } from '../../src/account/open-account.ts'
import type { Authenticated, Keyring } from '../../src/account/keyring.ts'
import type { Day } from '../../src/base/day.ts'
import { IpriskError } from '../../src/base/coded-error.ts'
import { type Log, type LogDetails, createLog } from '../../src/base/log.ts'
import { emptyCounterSnapshot, counterTotals } from '../../src/observe/request-counters.ts'
import type { ToPrimary, ToWorker } from '../../src/worker/worker-messages.ts'
import { createWorker } from '../../src/worker/worker.ts'
import type { Table } from '../../src/table/table.ts'
import { keyOf } from '../serve/key.ts'
import { converse, responsesIn } from '../http/raw-socket.ts'
import { eventually } from '../eventually.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { settingsOfAll } from './settings-of-all.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-worker-'))
const said: ToPrimary[] = []
const logged: { readonly details: LogDetails; readonly message: string }[] = []
const exits: number[] = []
let tell: (message: ToWorker) => void
let port = 0

const keyring: Keyring = {
  authenticate: () => keyOf('test'),
  refresh: async () => undefined,
  usePlans: () => undefined,
  known: () => true,
  holds: () => false,
  version: () => 0,
  counts: () => ({ keys: 0, verified: 0 }),
}

/** The real limits, in a folder of its own. */
async function newAccount(options: AccountOptions): Promise<Account> {
  const stateFolder = mkdtempSync(join(folder, 'state-'))
  return { ...(await openAccount({ ...options, stateFolder })), keyring }
}

function note(details: LogDetails | string, message = ''): void {
  logged.push(
    typeof details === 'string' ? { details: {}, message: details } : { details, message },
  )
}

const log: Log = {
  trace: note,
  debug: note,
  info: note,
  warn: note,
  error: note,
  fatal: note,
  child: () => log,
}

/** A table that throws, with the address in its message, as no log may show it. */
const table: Table = {
  path: '',
  id: 'broken',
  asOf: 0 as Day,
  bytes: 0,
  sources: [],
  coverage: [],
  check: (text) => {
    throw new Error(`cannot look up ${text}`)
  },
  prepare: () => undefined,
  useLists: () => undefined,
  answer: ({ bytes, from, to }) => {
    throw new Error(`cannot look up ${Buffer.from(bytes.subarray(from, to)).toString()}`)
  },
  close: () => undefined,
}

/** Opens it in two steps. */
const steps = (one: Table) =>
  function* (): Generator<undefined, Table, undefined> {
    yield
    return one
  }

const heard = (kind: ToPrimary['kind']): Promise<boolean> =>
  eventually(() => said.some((message) => message.kind === kind))

function request(id: string, length = ''): string {
  const body = '{"ip":"192.0.2.77"}'
  return `POST /v1/intelligence/ip-risk/check HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\nContent-Length: ${length || body.length}\r\n\r\n${body}`
}

const usual = {
  heartbeat: { lastBeatMs: Infinity, beat: () => undefined },
  openInSteps: steps(table),
  createLog: () => log,
  exit: () => undefined,
}

beforeAll(async () => {
  port = await freePort()
  tell = createWorker({
    send: (message) => void said.push(message),
    ...usual,
    openAccount: newAccount,
    exit: (code) => void exits.push(code),
  })
  tell({
    kind: 'start',
    settings: { ...settingsOfAll, port },
    file: { table: 1, path: 'a', builtMs: 0 },
  })
  await heard('listening')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a worker', () => {
  it('opens and swaps in the table that it starts with', () => {
    // It also counts every second.
    const acts = said.map(({ kind }) => kind).filter((kind) => kind !== 'counted')
    expect(acts).toEqual(['opened', 'swapped', 'listening'])
  })

  it('answers 500 where a handler throws, says it once without the address, and lives', async () => {
    logged.length = 0
    const answer = await converse(port, [request('one')])
    const [response] = responsesIn(answer.text)
    expect(response?.status).toBe(500)
    expect(JSON.parse(response!.body).error).toMatchObject({
      code: 'internal_error',
      request_id: 'one',
    })
    expect(response?.body).not.toContain('192.0.2.77')
    expect(answer.closed).toBe(true)
    expect(logged).toHaveLength(1)
    expect(logged[0]?.details).toMatchObject({ requestId: 'one', error: 'Error' })
    expect(JSON.stringify(logged)).not.toContain('192.0.2.77')
    expect(JSON.stringify(logged)).toContain('worker.test')
    const again = responsesIn((await converse(port, [request('two')])).text)
    expect(again[0]?.status).toBe(500)
  })

  it('counts a client that goes away, and answers the next', async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(request('gone', '500'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.resetAndDestroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    said.length = 0
    tell({ kind: 'count' })
    const [counted] = said
    expect(counted?.kind).toBe('counted')
    const counters = counted?.kind === 'counted' ? counted.counters : emptyCounterSnapshot
    const { durationMsSum, opened, ...others } = counterTotals(counters)
    expect(others.aborted).toBe(1)
    expect(Object.values(others).reduce((sum, one) => sum + one, 0)).toBe(1)
    expect([durationMsSum, opened].every((one) => one > 0)).toBe(true)
    expect(responsesIn((await converse(port, [request('next')])).text)[0]?.status).toBe(500)
  })

  it('counts that the store has lost units, and does not call that an outage', async () => {
    let trouble: AccountOptions['onTrouble'] = () => undefined
    const counted: ToPrimary[] = []
    const ownPort = await freePort()
    const worker = createWorker({
      send: (message) => void counted.push(message),
      ...usual,
      openAccount: (options) => {
        trouble = options.onTrouble
        return newAccount(options)
      },
    })
    worker({ kind: 'start', settings: { ...settingsOfAll, port: ownPort }, file: undefined })
    await eventually(() => counted.some(({ kind }) => kind === 'listening'))
    const code = 'store_lost_units'
    trouble(new IpriskError({ code, message: 'It has lost some.', fault: 'environment' }))
    counted.length = 0
    worker({ kind: 'count' })
    const [said] = counted
    const counters = said?.kind === 'counted' ? said.counters : emptyCounterSnapshot
    expect(counterTotals(counters)).toMatchObject({ losses: 1, outages: 0 })
    expect(counters.storeReachable).toBe(true)
    worker({ kind: 'drain' })
  })

  it('ends with the reason where it cannot open its account', async () => {
    const told: ToPrimary[] = []
    const ends: number[] = []
    const worker = createWorker({
      send: (message) => void told.push(message),
      ...usual,
      openAccount: () => Promise.reject(new Error('the keys are gone')),
      exit: (code) => void ends.push(code),
    })
    const settings = { ...settingsOfAll, port: await freePort() }
    worker({ kind: 'start', settings, file: undefined })
    await eventually(() => ends.length > 0)
    expect(told).toEqual([{ kind: 'failed', message: 'the keys are gone' }])
    expect(ends).toEqual([1])
  })

  it('refuses a table that cannot be opened by saying why', async () => {
    const told: ToPrimary[] = []
    const worker = createWorker({
      send: (message) => void told.push(message),
      ...usual,
      openInSteps: () => ({
        next: () => {
          throw new Error('it is broken')
        },
      }),
      openAccount: newAccount,
      exit: (code) => void exits.push(code),
    })
    worker({ kind: 'open', file: { table: 7, path: 'b', builtMs: 0 } })
    worker({ kind: 'swap', table: 7 })
    await expect.poll(() => told.length).toBeGreaterThan(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(told).toEqual([{ kind: 'refused', table: 7, message: 'it is broken' }])
  })

  it('drains: answers what is open with close, and ends with 0 when no connection is left', async () => {
    const kept = connect(port, '127.0.0.1')
    const nothing = 'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
    kept.write(nothing)
    await once(kept, 'data')
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    const whole = request('slow')
    socket.write(whole.slice(0, -5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    tell({ kind: 'drain', lingerMs: 60_000 })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(exits).toEqual([])
    socket.write(whole.slice(-5))
    await once(socket, 'close')
    expect(responsesIn(text)).toMatchObject([{ status: 500, headers: { connection: 'close' } }])
    // Idle, and perhaps about to be used.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(exits).toEqual([])
    kept.write(nothing)
    const [answer] = (await once(kept, 'data')) as [Buffer]
    expect(responsesIn(answer.toString('latin1'))).toMatchObject([
      { status: 404, headers: { connection: 'close' } },
    ])
    await heard('drained')
    expect(exits).toEqual([0])
    const late = connect(port, '127.0.0.1')
    const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  })
})

describe('a worker that lingers', () => {
  const nothing = 'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'

  /** One of its own, with a connection that it has answered and keeps. */
  async function lingering(change: (account: Account) => Account = (account) => account): Promise<{
    readonly kept: Socket
    readonly tell: (message: ToWorker) => void
    readonly drained: Promise<ToPrimary>
    readonly exited: Promise<number>
  }> {
    const ownPort = await freePort()
    const heardHere = new EventEmitter()
    const next = async <T>(name: string): Promise<T> => (await once(heardHere, name))[0] as T
    const worker = createWorker({
      send: (message) => void heardHere.emit(message.kind, message),
      ...usual,
      openAccount: async (options) => change(await newAccount(options)),
      exit: (code) => void heardHere.emit('exit', code),
    })
    const listening = next('listening')
    const settings = { ...settingsOfAll, port: ownPort } as const
    worker({ kind: 'start', settings, file: { table: 1, path: 'a', builtMs: 0 } })
    await listening
    const kept = connect(ownPort, '127.0.0.1')
    kept.write(nothing)
    await once(kept, 'data')
    return { kept, tell: worker, drained: next('drained'), exited: next('exit') }
  }

  it('goes on to look after keys: one that is revoked meanwhile is denied', async () => {
    let isRevoked = false
    let isDenied = false
    const looks = new EventEmitter()
    const {
      kept,
      tell: say,
      exited,
    } = await lingering((account) => ({
      ...account,
      keyring: {
        ...keyring,
        authenticate: () =>
          isDenied
            ? { kind: 'denied', status: 401, code: 'invalid_api_key' }
            : keyring.authenticate(''),
        refresh: async () => {
          isDenied = isRevoked
          looks.emit('look')
        },
      },
    }))
    say({ kind: 'drain', lingerMs: 60_000 })
    isRevoked = true
    await once(looks, 'look')
    kept.write(request('revoked'))
    const [answer] = (await once(kept, 'data')) as [Buffer]
    expect(responsesIn(answer.toString('latin1'))[0]?.status).toBe(401)
    expect(await exited).toBe(0)
  })

  it('ends when a later drain lets it linger less, and not when one lets it linger longer', async () => {
    const { kept, tell: say, drained } = await lingering()
    const closed = once(kept, 'close')
    const from = performance.now()
    say({ kind: 'drain', lingerMs: 60_000 })
    say({ kind: 'drain', lingerMs: 200 })
    say({ kind: 'drain', lingerMs: 60_000 })
    await closed
    expect(performance.now() - from).toBeGreaterThan(199)
    expect(await drained).toEqual({ kind: 'drained', cutOff: 0 })
  })

  it('cuts off what is open when the time is over, and gives back its leases all the same', async () => {
    let isGivenBack = false
    const {
      kept,
      tell: say,
      drained,
      exited,
    } = await lingering(({ limiter, ...account }) => {
      const close = async (): Promise<void> => {
        await limiter.close()
        isGivenBack = true
      }
      return { ...account, limiter: { ...limiter, close } }
    })
    kept.write(request('stuck', '500'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const closed = once(kept, 'close')
    say({ kind: 'drain', lingerMs: 60_000, drainMs: 100 })
    await closed
    expect(await drained).toEqual({ kind: 'drained', cutOff: 1 })
    expect(await exited).toBe(0)
    expect(isGivenBack).toBe(true)
  })
})

describe('a request that fails inside', () => {
  it('costs no quota', async () => {
    const ownPort = await freePort()
    const kinds: ToPrimary['kind'][] = []
    const until = (kind: ToPrimary['kind']) => eventually(() => kinds.includes(kind))
    const worker = createWorker({
      send: ({ kind }) => void kinds.push(kind),
      ...usual,
      openAccount: async (options) => {
        const account = await newAccount(options)
        const allowance = account.limiter.bind('few', { quotaPerMonth: 3 })
        const outcome = keyring.authenticate('') as Authenticated
        return {
          ...account,
          keyring: { ...keyring, authenticate: () => ({ ...outcome, allowance }) },
        }
      },
    })
    const settings = { ...settingsOfAll, port: ownPort }
    worker({ kind: 'start', settings, file: { table: 1, path: 'a', builtMs: 0 } })
    await until('listening')
    for (let i = 0; i < 10; i += 1) {
      // It ends with the close: however long a busy machine takes.
      const { text } = await converse(ownPort, [request(`few-${i}`)], { quietMs: 10_000 })
      const [response] = responsesIn(text)
      expect(response?.status).toBe(500)
    }
    worker({ kind: 'drain' })
    await until('drained')
  })
})

describe('the log of requests', () => {
  /** A worker at level debug; all that it logs of one failure, one 404, one abort, one refusal. */
  async function linesOf(logAddresses: boolean): Promise<readonly string[]> {
    const lines: string[] = []
    const ownPort = await freePort()
    const heardHere: ToPrimary['kind'][] = []
    const until = (kind: ToPrimary['kind']) => eventually(() => heardHere.includes(kind))
    const worker = createWorker({
      send: ({ kind }) => void heardHere.push(kind),
      ...usual,
      openAccount: newAccount,
      createLog: ({ logLevel: level, logAddresses: addresses }) =>
        createLog({
          level,
          name: 'test',
          pretty: false,
          addresses,
          write: (line) => void lines.push(line),
        }),
      exit: () => undefined,
    })
    worker({
      kind: 'start',
      settings: { ...settingsOfAll, port: ownPort, logLevel: 'debug', logAddresses },
      file: { table: 1, path: 'a', builtMs: 0 },
    })
    await until('listening')
    await converse(ownPort, [request('failed')])
    await converse(ownPort, [request('lost').replace('/check', '/chuck')])
    await converse(ownPort, [request('bad').replace('Host: a', 'Host: a\r\nHost: b')])
    const socket = connect(ownPort, '127.0.0.1')
    socket.write(request('gone', '500'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.resetAndDestroy()
    await eventually(() => lines.some((line) => line.includes('disconnected')))
    worker({ kind: 'drain' })
    await until('drained')
    return lines
  }

  const about = (lines: readonly string[], text: string): object =>
    JSON.parse(lines.find((line) => line.includes(text)) ?? '{}') as object

  it('names the client and the checked address where that is wanted', async () => {
    const lines = await linesOf(true)
    const remote = '127.0.0.1'
    const address = '192.0.2.77'
    const failed = { requestId: 'failed', remote, address }
    expect(about(lines, 'failed in the server')).toMatchObject({ ...failed, level: 'error' })
    expect(about(lines, 'A request was answered')).toMatchObject({
      ...failed,
      level: 'debug',
      status: 500,
    })
    expect(about(lines, '"lost"')).toMatchObject({ status: 404, remote })
    expect(about(lines, 'ambiguous framing')).toMatchObject({ level: 'debug', remote })
    expect(about(lines, 'disconnected')).toMatchObject({
      requestId: 'gone',
      level: 'debug',
      remote,
    })
    expect(lines).toHaveLength(5)
  })

  it('never names an address otherwise', async () => {
    const lines = await linesOf(false)
    expect(lines).toHaveLength(5)
    expect(lines.join('')).not.toMatch(/127\.0\.0\.1|192\.0\.2\.77/)
  })
})
