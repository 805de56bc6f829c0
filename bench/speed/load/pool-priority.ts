// How the pool threads of a server that runs share the cores with its event loop: as the product
// arranges it (the threads have niceness 19), or otherwise, to see what that gains. Done from
// outside, thread by thread, and undone after each round.

import { execFileSync } from 'node:child_process'
import { setPriority } from 'node:os'
import { type Thread, threadsOf } from '../../harness/cpu.ts'
import { allowedCores, hasTaskset } from './pin.ts'

export const poolPriorities = ['only when idle', 'same priority', 'pinned'] as const
export type PoolPriority = (typeof poolPriorities)[number]

/** Undoes itself; `undefined` where the system does not let us, or has one core only. */
export type SetPoolPriority = (arrangement: PoolPriority) => (() => void) | undefined

/** Of the worker `pid`, whose pool has started and is nicer than its loop. */
export function newPoolPrioritySetter(pid: number): SetPoolPriority {
  const threads = threadsOf(pid) ?? []
  const loop = threads.find(({ tid }) => tid === pid)
  const pool = threads.filter(({ nice }) => nice > (loop?.nice ?? 0))
  return (arrangement) => {
    if (loop === undefined || pool.length === 0) return undefined
    if (!hasTaskset()) return undefined
    if (arrangement === 'pinned') return pinApart(loop, pool)
    return arrangement === 'only when idle' ? runWhenIdle(pool) : takePriority(pool, loop.nice)
  }
}

/** Only who may raise priorities can take it back again. */
function takePriority(pool: readonly Thread[], to: number): (() => void) | undefined {
  const undo = (): void => {
    for (const { tid, nice } of pool) setPriority(tid, nice)
  }
  try {
    for (const { tid } of pool) setPriority(tid, to)
    return undo
  } catch {
    undo()
    return undefined
  }
}

/** SCHED_IDLE; chrt is of the same package as taskset. */
function runWhenIdle(pool: readonly Thread[]): () => void {
  const schedule = (policy: '--idle' | '--other'): void => {
    for (const { tid } of pool) {
      execFileSync('chrt', [policy, '--pid', '0', String(tid)], { stdio: 'ignore' })
    }
  }
  schedule('--idle')
  return () => schedule('--other')
}

/** The loop on the first core, the pool on all others. The load goes where it finds room. */
function pinApart(loop: Thread, pool: readonly Thread[]): (() => void) | undefined {
  const cores = allowedCores()
  const [first, ...others] = cores
  if (first === undefined || others.length === 0) return undefined
  const pin = ({ tid }: Thread, to: readonly number[]): void => {
    execFileSync('taskset', ['-pc', to.join(','), String(tid)], { stdio: 'ignore' })
  }
  pin(loop, [first])
  for (const thread of pool) pin(thread, others)
  return () => {
    for (const thread of [loop, ...pool]) pin(thread, cores)
  }
}
