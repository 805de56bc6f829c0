// Processor time of a process and all its descendants, from /proc (Linux, proc_pid_stat(5)). Not
// for systems without /proc: there it is `undefined` and reports say so.
//
// The kernel counts in ticks, a hundredth of a second: fine for rounds of seconds, not below.

import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import type { ProcessStat } from '../../src/base/system/process.ts'
import { namesIn } from '../../src/base/system/atomic-file.ts'
import { parseStat, readSystemFile, threadStatOf } from '../../src/base/system/process.ts'

export interface TreeCpu {
  /** Ascending. A tree whose processes change while it is measured cannot be measured. */
  readonly pids: readonly number[]
  readonly microseconds: number
}

/** `root` and what descends from it. */
export function treeOf<Stat extends Pick<ProcessStat, 'pid' | 'parent'>>(
  root: number,
  stats: readonly Stat[],
): readonly Stat[] {
  const tree = stats.filter((stat) => stat.pid === root)
  for (const stat of tree) tree.push(...stats.filter((other) => other.parent === stat.pid))
  return tree
}

export function treeCpu(root: number): TreeCpu | undefined {
  const stats = readStats()
  if (stats === undefined) return undefined
  const tree = treeOf(root, stats)
  const ticks = tree.reduce((sum, stat) => sum + stat.ticks, 0)
  return {
    pids: tree.map((stat) => stat.pid).sort((a, b) => a - b),
    microseconds: (ticks * 1_000_000) / ticksPerSecond(),
  }
}

/** What children that have ended have used; NaN where the system does not say. */
export function endedChildrenCpuUs(): number {
  const fields = readSystemFile('/proc/self/stat').split(') ').at(-1)!.split(' ')
  return ((Number(fields[13]) + Number(fields[14])) * 1_000_000) / ticksPerSecond()
}

/** What the threads of a process have used, microseconds. */
export interface ThreadCpu {
  /** The first thread: the event loop. */
  readonly loop: number
  /** Threads that are nicer than it. */
  readonly pool: number
  /** What V8 and libuv do beside it. */
  readonly other: number
}

export type Thread = Pick<ProcessStat, 'nice' | 'ticks'> & {
  /** The first thread has the process's. */
  readonly tid: number
}

export function threadsOf(pid: number): readonly Thread[] | undefined {
  const threads = namesIn(`/proc/${pid}/task`).flatMap((name) => {
    const tid = Number(name)
    const stat = threadStatOf(pid, tid)
    return stat === undefined ? [] : [{ tid, nice: stat.nice, ticks: stat.ticks }]
  })
  return threads.length === 0 ? undefined : threads
}

export function threadCpu(pid: number): ThreadCpu | undefined {
  const threads = threadsOf(pid)
  if (threads === undefined) return undefined
  const first = threads.find(({ tid }) => tid === pid)
  const sum = (of: readonly Thread[]): number =>
    of.reduce((all, { ticks }) => all + (ticks * 1_000_000) / ticksPerSecond(), 0)
  const nicer = threads.filter(({ nice }) => nice > (first?.nice ?? 0))
  const rest = threads.filter((one) => one !== first && !nicer.includes(one))
  return { loop: first === undefined ? 0 : sum([first]), pool: sum(nicer), other: sum(rest) }
}

/** Of all children of this process that have ended. */
export function endedCpu(): number | undefined {
  try {
    const line = readFileSync('/proc/self/stat', 'utf8')
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return ((Number(fields[13]) + Number(fields[14])) * 1_000_000) / ticksPerSecond()
  } catch {
    return undefined
  }
}

function readStats(): readonly ProcessStat[] | undefined {
  let names: readonly string[]
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return undefined
  }
  // Some have ended since the folder was read.
  return names.flatMap((name) => parseStat(readSystemFile(`/proc/${name}/stat`)) ?? [])
}

let ticksKnown: number | undefined

function ticksPerSecond(): number {
  ticksKnown ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8', timeout: 5000 }))
  return ticksKnown
}
