// The built-in refresh: runs `iprisk build` at intervals in a process of the lowest priority; the
// server watches its output.
//
// Invariants: one build at a time; a failure is retried after an eighth of the interval, doubled
// each time up to the whole; a server that ends stops the build. A table without feeds for lack of
// a network is retried every few seconds, doubled up to ten minutes; a try that cost a whole build
// counts as a failed refresh.

import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { text as readText } from 'node:stream/consumers'
import { backoffMs, withJitter } from '../../base/backoff.ts'
import { feedsUnreachable } from '../../base/coded-error.ts'
import type { RefreshView } from '../../api/admin-answers.ts'
import { msPerDay } from '../../base/day.ts'
import type { Log } from '../../base/log.ts'
import { type LongTimer, runAfter } from '../../base/system/long-timer.ts'
import { endOf, type ProcessEnd } from '../../base/system/child-task.ts'
import { lowestPriorityCommand } from '../../base/system/thread-priority.ts'

/** Share of an interval, so that servers do not request feeds in step. */
const jitter = 0.1

const retryMsMin = 60_000

/** Between tries without a network. */
const catchUp = { msMin: 5000, msMax: 600_000 } as const

const lineCharsMax = 200

export type RefreshStatus = ReturnType<Refresh['status']>

export type Refresh = ReturnType<typeof startRefresh>

/** `failures` in a row; `random` is in [0, 1). */
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

export const catchUpDelayMs = (of: { readonly failures: number; readonly random?: number }) =>
  withJitter(backoffMs(catchUp, of.failures), jitter, of.random)

export interface CatchUp {
  /** Builds until a table has its feeds; fails cheaply without a network. */
  readonly command: readonly string[]
  readonly isBehind: () => boolean
}

/**
 * First runs when the present table is old enough. Without an interval or feeds to catch up with,
 * runs on demand.
 */
export function startRefresh(options: {
  /** 0: only to catch up, or on demand. */
  readonly everyMs: number
  /** The table in use; `undefined`: none, so build at once. */
  readonly builtMs: number | undefined
  readonly command: readonly string[]
  readonly catchUp?: CatchUp | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly log: Log
  readonly done: () => void
}) {
  const { everyMs, builtMs, environment: env, log, done } = options
  const record = newRefreshRecord()
  // Without an interval, catches up daily.
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
    const build = spawnBuild(behind?.command ?? options.command, record.said, { env })
    child = build.child
    void build.ended.then(({ reason }) => end(reason))
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
    /** False if a run is in progress. */
    start: (): boolean => {
      if (child !== undefined || stopped) return false
      timer?.stop()
      run()
      return true
    },
    status: () => ({
      /** 0: only catches up with feeds that the first table lacks. */
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
  // A file dated in the future, from a wrong clock, delays nothing.
  const age = builtMs === undefined ? Infinity : Math.max(0, Date.now() - builtMs)
  return Math.max(0, refreshDelayMs({ everyMs, failures: 0 }) - age)
}

/** A Node program and its arguments; `said` gets the last line of its standard error. */
export function spawnBuild(
  command: readonly string[],
  said: (line: string) => void,
  how: Pick<SpawnOptions, 'env' | 'timeout' | 'killSignal' | 'signal'>,
) {
  // Like pool threads: checks must not notice it.
  const [program = '', ...args] = lowestPriorityCommand([process.execPath, ...command])
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'] })
  // Without free descriptors there are no pipes.
  const { stdout }: { readonly stdout?: ChildProcess['stdout'] } = child
  const output = stdout ? readText(stdout).catch(() => '') : ''
  const lastLine = (words: string): string => words.trimEnd().split('\n').at(-1) ?? ''
  const end = endOf(child, (words) => said(lastLine(words).slice(0, lineCharsMax)))
  /** `reason` of a failure. */
  const ended = end.then(async (by) => {
    const late = child.killed ? 'It took too long and was stopped. Try again later.' : undefined
    return { output: await output, reason: late ?? whyFailed(by) }
  })
  return { child, ended }
}

function whyFailed({ by, words, error }: ProcessEnd): string | undefined {
  if (error !== undefined) return error.message
  if (by === 0) return undefined
  const lines = words.trim().split('\n')
  const said = lines.findLast((line) => line.startsWith('iprisk: '))
  return said ?? `The build was ended by ${by}; its last line: ${lines.at(-1) || 'none'}`
}
