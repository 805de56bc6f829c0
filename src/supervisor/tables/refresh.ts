// The built-in refresh: runs `iprisk build` at intervals in a process of the lowest priority. The
// server watches the path that it writes to.
//
// Invariants: never two builds at once; a failure is retried after an eighth of the interval, then
// after twice as long each time, up to the whole; a server that ends stops the build. A table that
// lacks its feeds for want of a network is caught up with at once: every few seconds, then after
// twice as long each time, up to ten minutes; a try that cost a whole build counts as a failed
// refresh.

import { type ChildProcess, spawn } from 'node:child_process'
import { backoffMs, withJitter } from '../../base/backoff.ts'
import { feedsUnreachable } from '../../base/coded-error.ts'
import type { RefreshView } from '../../api/admin-answers.ts'
import { msPerDay } from '../../base/day.ts'
import type { Log } from '../../base/log.ts'
import { type LongTimer, runAfter } from '../../base/system/long-timer.ts'
import { endOf, type ProcessEnd } from '../../base/system/child-task.ts'
import { lowestPriorityCommand } from '../../base/system/thread-priority.ts'

/** Of an interval, so that many servers do not ask the publishers at once. */
const jitter = 0.1

const retryMsMin = 60_000

/** Between two tries without a network. */
const catchUp = { msMin: 5000, msMax: 600_000 } as const

const lineCharsMax = 200

export type RefreshStatus = ReturnType<Refresh['status']>

export type Refresh = ReturnType<typeof startRefresh>

/** `failures` are those in a row, `random` is from 0 up to 1. */
export function refreshDelayMs(of: {
  readonly everyMs: number
  readonly failures: number
  readonly random?: number
}): number {
  const { everyMs, failures, random } = of
  const retry = { msMin: everyMs / 8, msMax: everyMs }
  const plain = failures === 0 ? everyMs : backoffMs(retry, failures)
  return withJitter(Math.max(Math.min(retryMsMin, everyMs), plain), jitter, random)
}

export function catchUpDelayMs(of: { readonly failures: number; readonly random?: number }) {
  return withJitter(backoffMs(catchUp, of.failures), jitter, of.random)
}

export interface CatchUp {
  /** Makes a table until one has its feeds; fails cheaply without a network. */
  readonly command: readonly string[]
  readonly isBehind: () => boolean
}

/**
 * The first run is due when the present table is old enough. Without an interval and without feeds
 * to catch up with it runs when it is asked to.
 */
export function startRefresh(options: {
  /** 0: only catches up, or runs when asked. */
  readonly everyMs: number
  /** Of the table in use; `undefined`: none, so build at once. */
  readonly builtMs: number | undefined
  readonly command: readonly string[]
  readonly catchUp?: CatchUp | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly log: Log
  readonly done: () => void
}) {
  const { everyMs, builtMs, environment = process.env, log, done } = options
  const record = newRefreshRecord()
  // A server that refreshes nothing otherwise catches up by the day.
  const delayAfterTry = newCatchUpDelays(everyMs > 0 ? everyMs : msPerDay)
  let child: ChildProcess | undefined
  let timer: LongTimer | undefined
  let nextAt: number | undefined
  let stopped = false
  let behind = options.catchUp

  const plan = (ms: number): void => {
    nextAt = Date.now() + ms
    timer = runAfter(ms, run)
  }
  const run = (): void => {
    nextAt = undefined
    record.began()
    log.info({}, 'Refreshing the table.')
    child = spawnBuild(behind?.command ?? options.command, environment, record.said, end)
  }
  const end = (reason: string | undefined): void => {
    if (child === undefined) return
    child = undefined
    if (stopped) return
    const { inARow } = record.ended(reason)
    if (reason === undefined) {
      if (behind?.isBehind() !== true) behind = undefined
      done()
    } else log.error({ inARow }, `The table was not refreshed: ${reason}`)
    if (behind !== undefined) plan(delayAfterTry(reason))
    else if (everyMs > 0) plan(refreshDelayMs({ everyMs, failures: inARow }))
  }
  if (behind !== undefined) plan(0)
  else if (everyMs > 0) plan(firstDelayMs(everyMs, builtMs))
  return {
    view: (): RefreshView => record.view(child !== undefined),
    /** `false` where a run is under way. */
    start: (): boolean => {
      if (child !== undefined || stopped) return false
      timer?.stop()
      run()
      return true
    },
    status: () => ({
      /** 0: only catches up with the feeds that the first table lacks. */
      every_ms: everyMs,
      running: child !== undefined,
      next_at: nextAt === undefined ? null : new Date(nextAt).toISOString(),
      ...record.counts(),
    }),
    stop: (): void => {
      stopped = true
      timer?.stop()
      child?.kill('SIGTERM')
    },
  }
}

function newRefreshRecord() {
  let counts = {
    runs: 0,
    failures: 0,
    last_success_at: null as string | null,
    last_failure: null as { readonly at: string; readonly reason: string } | null,
  }
  let inARow = 0
  let stage: string | null = null
  let last: RefreshView['last'] = null
  return {
    began: (): void => {
      stage = null
      counts = { ...counts, runs: counts.runs + 1 }
    },
    said: (line: string): void => {
      stage = line
    },
    ended: (reason: string | undefined) => {
      const at = new Date().toISOString()
      if (reason === undefined) {
        inARow = 0
        last = { at, outcome: 'done', message: '' }
        counts = { ...counts, last_success_at: at }
      } else {
        inARow += 1
        last = { at, outcome: 'failed', message: reason }
        counts = { ...counts, failures: counts.failures + 1, last_failure: { at, reason } }
      }
      return { inARow }
    },
    counts: () => counts,
    view: (running: boolean) => ({ running, stage: running ? stage : null, last }),
  }
}

/** By why the last try failed, where it did. */
function newCatchUpDelays(everyMs: number): (reason: string | undefined) => number {
  /** Failures in a row without an answer, and tries that took a whole build. */
  const tries = { unanswered: 0, builds: 0 }
  return (reason) => {
    if (reason?.includes(feedsUnreachable) === true) {
      tries.unanswered += 1
      return catchUpDelayMs({ failures: tries.unanswered })
    }
    tries.unanswered = 0
    tries.builds += 1
    return refreshDelayMs({ everyMs, failures: tries.builds })
  }
}

function firstDelayMs(everyMs: number, builtMs: number | undefined): number {
  // A file of a day yet to come, made while a clock was ahead, is new: it puts nothing off further.
  const age = builtMs === undefined ? Infinity : Math.max(0, Date.now() - builtMs)
  return Math.max(0, refreshDelayMs({ everyMs, failures: 0 }) - age)
}

/** `said` gets its last line, `ended` why it failed, if it did. */
function spawnBuild(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  said: (line: string) => void,
  ended: (reason: string | undefined) => void,
): ChildProcess {
  // As the pool's threads: checks must not feel it.
  const [program = '', ...args] = lowestPriorityCommand([process.execPath, ...command])
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment })
  const lastLine = (words: string): string => words.trimEnd().split('\n').at(-1) ?? ''
  const end = endOf(child, (words) => said(lastLine(words).slice(0, lineCharsMax)))
  void end.then((how) => ended(whyFailed(how)))
  return child
}

function whyFailed({ by, words, error }: ProcessEnd): string | undefined {
  if (error !== undefined) return error.message
  if (by === 0) return undefined
  const lines = words.trim().split('\n')
  const said = lines.findLast((line) => line.startsWith('iprisk: '))
  return said ?? `The build was ended by ${by}; its last words: ${lines.at(-1) || 'none'}`
}
