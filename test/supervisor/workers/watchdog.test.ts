// The watchdog over real processes: one that is stopped, one that spins, one that waits for a core, and
// one that beats.

import type { Worker } from 'node:cluster'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { emptyCounterSnapshot } from '../../../src/http/exchange/request-counters.ts'
import type { WorkerHandle } from '../../../src/supervisor/workers/worker-registry.ts'
import { heartbeatMs } from '../../../src/http/exchange/heartbeat.ts'
import { type Watchdog, startWatchdog } from '../../../src/supervisor/workers/watchdog.ts'

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

/** Who was found to hang within so long, and how many looks that took. */
async function watched(
  handles: readonly WorkerHandle[],
  ms: number,
  limits: { readonly hangMs?: number; readonly memoryBytesMax?: number } = {},
): Promise<{ readonly hung: readonly WorkerHandle[]; readonly grown: readonly WorkerHandle[] }> {
  const found = { hung: [] as WorkerHandle[], grown: [] as WorkerHandle[] }
  const { hangMs = 500, memoryBytesMax = Infinity } = limits
  watchdog = startWatchdog({
    workers: () => handles,
    hangMs,
    memoryBytesMax,
    hung: (handle) => void found.hung.push(handle),
    grown: (handle) => void found.grown.push(handle),
  })
  const end = performance.now() + ms
  while (performance.now() < end && found.hung.length + found.grown.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return found
}

describe('the watchdog', () => {
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
