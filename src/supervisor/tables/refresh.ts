// The built-in refresh: runs `iprisk build`, which fetches and compiles, at intervals in a process
// of the lowest priority. It writes the table to the path that the server watches, and the server
// loads it like any other; a table that the build refuses leaves the one in use.
//
// Invariants: never two builds at once; after a failure it tries again sooner, at first after an
// eighth of the interval, then after twice as long each time, up to the whole; a server that ends
// stops it.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Log } from '../../base/log.ts'
import { lowestPriorityCommand } from '../../base/system/thread-priority.ts'
import { type LongTimer, runAfter } from './long-timer.ts'

/** The random share of an interval, so that many servers do not ask the publishers at once. */
const jitter = 0.1

/** The shortest wait after a failure. */
const retryMsMin = 60_000

/** How much of the end of a build's error output is kept. */
const outputCharsMax = 2000

export interface RefreshStatus {
  readonly every_ms: number
  readonly running: boolean
  readonly next_at: string | null
  readonly runs: number
  readonly failures: number
  readonly last_success_at: string | null
  readonly last_failure: { readonly at: string; readonly reason: string } | null
}

export interface Refresh {
  readonly status: () => RefreshStatus
  readonly stop: () => void
}

/** Milliseconds until the next run: `failures` are those in a row. */
export function refreshDelayMs(of: {
  readonly everyMs: number
  readonly failures: number
  /** From 0 up to 1. */
  readonly random: number
}): number {
  const { everyMs, failures, random } = of
  const share = failures === 0 ? 1 : Math.min(1, 2 ** (failures - 1) / 8)
  const plain = Math.max(Math.min(retryMsMin, everyMs), everyMs * share)
  return plain * (1 + jitter * (2 * random - 1))
}

/** Starts the timer; the first run is due when the present table is old enough. */
export function startRefresh(options: {
  readonly everyMs: number
  /** When the table in use was written; `undefined` where there is none: then at once. */
  readonly builtMs: number | undefined
  /** What makes a table: a program of Node and its arguments. */
  readonly command: readonly string[]
  readonly log: Log
  /** Called when a new table is in place. */
  readonly done: () => void
}): Refresh {
  const { everyMs, builtMs, command, log, done } = options
  const state = { runs: 0, failures: 0, inARow: 0 }
  let child: ChildProcess | undefined
  let timer: LongTimer | undefined
  let nextAt: number | undefined
  let successAt: string | null = null
  let failure: RefreshStatus['last_failure'] = null
  let stopped = false

  const plan = (ms: number): void => {
    nextAt = Date.now() + ms
    timer = runAfter(ms, run)
  }
  const run = (): void => {
    nextAt = undefined
    state.runs += 1
    log.info({}, 'Refreshing the table.')
    let output = ''
    // As the pool's threads: checks must not feel it.
    const [program = '', ...args] = lowestPriorityCommand([process.execPath, ...command])
    child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-outputCharsMax)
    })
    child.once('error', (error) => end(error.message))
    child.once('close', (code, signal) => end(reasonOf(output, signal ?? code)))
  }
  const end = (reason: string | undefined): void => {
    if (child === undefined) return
    child = undefined
    if (stopped) return
    const at = new Date().toISOString()
    if (reason === undefined) {
      state.inARow = 0
      successAt = at
      done()
    } else {
      state.failures += 1
      state.inARow += 1
      failure = { at, reason }
      log.error({ inARow: state.inARow }, `The table was not refreshed: ${reason}`)
    }
    plan(refreshDelayMs({ everyMs, failures: state.inARow, random: Math.random() }))
  }
  const age = builtMs === undefined ? Infinity : Date.now() - builtMs
  const first = refreshDelayMs({ everyMs, failures: 0, random: Math.random() })
  plan(Math.max(0, first - age))
  return {
    status: () => ({
      every_ms: everyMs,
      running: child !== undefined,
      next_at: nextAt === undefined ? null : new Date(nextAt).toISOString(),
      runs: state.runs,
      failures: state.failures,
      last_success_at: successAt,
      last_failure: failure,
    }),
    stop: () => {
      stopped = true
      timer?.stop()
      child?.kill('SIGTERM')
    },
  }
}

/** The line in which a command says why it failed, or how it ended where it says nothing. */
function reasonOf(output: string, by: string | number | null): string | undefined {
  if (by === 0) return undefined
  const lines = output.trim().split('\n')
  const said = lines.findLast((line) => line.startsWith('iprisk: '))
  return said ?? `The build was ended by ${by}; its last words: ${lines.at(-1) || 'none'}`
}
