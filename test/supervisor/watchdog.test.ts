// The watchdog over real processes: one that is stopped, one that spins, one that waits for a core,
// and one that beats.

import type { Worker } from 'node:cluster'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { emptyCounterSnapshot } from '../../src/observe/request-counters.ts'
import type { WorkerHandle } from '../../src/supervisor/worker-registry.ts'
import { heartbeatMs } from '../../src/observe/heartbeat.ts'
import { eventually } from '../eventually.ts'
import { type Watchdog, startWatchdog } from '../../src/supervisor/watchdog.ts'

const children: ChildProcess[] = []
let watchdog: Watchdog | undefined

afterEach(() => {
  watchdog?.stop()
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function handleOf(program: string): WorkerHandle {
  const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' })
  children.push(child)
  return {
    worker: { id: children.length, process: child } as unknown as Worker,
    startRequestedMs: performance.now(),
    listeningSinceMs: performance.now(),
    lastMessageMs: performance.now(),
    privateBytes: 0,
    retired: false,
    killCause: undefined,
    ready: true,
    started: true,
    listening: true,
    keysKnown: true,
    table: 1,
    counters: emptyCounterSnapshot,
  }
}

const idle = 'setInterval(() => 0, 1000)'
/** Not for ever: a run of tests that is killed leaves it behind. */
const spinning = 'const end = Date.now() + 60_000; while (Date.now() < end);'

/** A process that reads what is sent to it, and never beats. */
async function serverOf(
  program: string,
): Promise<{ readonly handle: WorkerHandle; readonly port: number }> {
  const file = join(mkdtempSync(join(tmpdir(), 'iprisk-watchdog-')), 'port')
  const handle = handleOf(`
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => undefined).resume()
    })
    server.listen(0, '127.0.0.1', () => {
      require('node:fs').writeFileSync(${JSON.stringify(file)}, String(server.address().port))
      ${program}
    })`)
  const text = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  await eventually(() => text() !== '')
  return { handle, port: Number(text()) }
}

/** A client that sends on one connection, and opens others and resets them. */
function sendForever(port: number): () => void {
  const open: Socket[] = []
  const steady = connect(port, '127.0.0.1').on('error', () => undefined)
  const timer = setInterval(() => {
    steady.write('x')
    open.push(connect(port, '127.0.0.1').on('error', () => undefined))
    if (open.length > 5) open.shift()?.resetAndDestroy()
  }, 20)
  return () => {
    clearInterval(timer)
    for (const socket of [steady, ...open]) socket.destroy()
  }
}

/** Who was found to hang within so long, and how many looks that took. */
async function watched(
  handles: readonly WorkerHandle[],
  ms: number,
  limits: { readonly hangMs?: number; readonly memoryBytesMax?: number } = {},
): Promise<Record<'hung' | 'busy' | 'grown', readonly WorkerHandle[]>> {
  const found = {
    hung: [] as WorkerHandle[],
    busy: [] as WorkerHandle[],
    grown: [] as WorkerHandle[],
  }
  const { hangMs = 500, memoryBytesMax = Infinity } = limits
  watchdog = startWatchdog({
    workers: () => handles,
    hangMs,
    memoryBytesMax,
    hung: (handle) => void found.hung.push(handle),
    busy: (handle) => void found.busy.push(handle),
    grown: (handle) => void found.grown.push(handle),
  })
  const end = performance.now() + ms
  while (performance.now() < end && found.hung.length + found.grown.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return found
}

describe('the watchdog', () => {
  it('takes no process to hang that never beats and works on its connections', async () => {
    const { handle, port } = await serverOf('')
    const stop = sendForever(port)
    const { hung, busy } = await watched([handle], 3000)
    stop()
    expect([hung, busy]).toEqual([[], [handle]])
  })

  it('finds one that spins, whatever its clients send, reset and close', async () => {
    const { handle, port } = await serverOf('setTimeout(() => { for (;;); }, 500)')
    const stop = sendForever(port)
    const { hung, busy } = await watched([handle], 20_000, { hangMs: 1000 })
    stop()
    expect(hung).toEqual([handle])
    // Before it began to spin it may have been seen at work.
    expect(busy.length).toBeLessThan(2)
  })

  it('finds a process that is silent, stopped or spinning, and no one that beats', async () => {
    const beating = handleOf(idle)
    const beats = setInterval(() => {
      beating.lastMessageMs = performance.now()
    }, heartbeatMs)
    for (const program of [idle, spinning]) {
      const silent = handleOf(program)
      const { hung } = await watched([beating, silent], 20_000)
      watchdog?.stop()
      expect(hung).toEqual([silent])
    }
    clearInterval(beats)
  })

  it('bears with a process that wants a core and gets none', async () => {
    // Of the lowest class, beside two that take the one core on which it may run.
    const starved = handleOf(spinning)
    const others = [handleOf(spinning), handleOf(spinning)]
    for (const { worker } of [starved, ...others]) {
      execFileSync('taskset', ['-pc', '0', String(worker.process.pid)])
    }
    execFileSync('chrt', ['-i', '-p', '0', String(starved.worker.process.pid)])
    const { hung } = await watched([starved], 1500)
    expect(hung).toEqual([])
  })

  it('waits with one that could not begin yet, and finds one that could and does not', async () => {
    const waiting = { ...handleOf(idle), listeningSinceMs: 0, startRequestedMs: 0 }
    const stuck = { ...waiting, startRequestedMs: performance.now() - 61_000 }
    const { hung } = await watched([waiting, stuck], 5000)
    expect(hung).toEqual([stuck])
  })

  it('counts no silence while it is itself late', async () => {
    const silent = handleOf(idle)
    const watching = watched([silent], 1500)
    const end = performance.now() + 1400
    const block = (): void => {
      const until = performance.now() + 4 * heartbeatMs
      while (performance.now() < until);
      if (performance.now() < end) setImmediate(block)
    }
    block()
    expect((await watching).hung).toEqual([])
  })

  it('finds a process that holds more than it may, once, and never one that is retired', async () => {
    const grown = handleOf(`globalThis.kept = Buffer.alloc(1e8, 1); ${idle}`)
    const retired = { ...handleOf(idle), retired: true }
    const found = await watched([retired, grown], 20_000, { hangMs: 1e6, memoryBytesMax: 8e7 })
    expect(found.grown).toEqual([grown])
    // It may have been looked at while it grew.
    expect(grown.privateBytes).toBeGreaterThan(8e7)
  })
})
