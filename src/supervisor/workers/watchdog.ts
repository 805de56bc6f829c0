// The vigil over the workers: one whose loop does not turn, or that holds more memory than it may, is
// pointed out to the crew, which replaces it. Looks from outside, for a hung process says nothing.
//
// Invariants: silence counts only while this loop itself is in time, so that a machine that slept
// condemns nobody; a worker that wants a core and does not get one is not hung, only slow, and is
// given ten times as long; what a system does not tell (no /proc) is never held against a worker.

import { readFileSync } from 'node:fs'
import { heartbeatMs } from '../../http/exchange/heartbeat.ts'
import type { WorkerHandle } from './worker-registry.ts'

/** A worker that has not listened by then never will: it hangs in its start. */
const startMsMax = 60_000

/** Memory is looked at more seldom. */
const memoryEvery = 5

/** A look that comes later than this after the one before counts for nothing. */
const lateMs = heartbeatMs * 3

/** Patience with a worker that waits for a core, or for a disk. */
const starvedFactor = 10

/** Of the time of its silence, what share of a core makes a waiting worker one that runs. */
const runningShareMin = 0.2

/** The kernel counts processor time in hundredths of a second (USER_HZ, proc_pid_stat(5)). */
const tickMs = 10

export interface Watchdog {
  readonly stop: () => void
}

interface Silence {
  /** Of looks that were in time. */
  ms: number
  lastMessageMs: number
  /** Processor time used when it began. */
  cpuMs: number
}

/** Calls `hung` and `grown` once for each member that is. */
export function startWatchdog(options: {
  readonly members: () => Iterable<WorkerHandle>
  readonly hangMs: number
  readonly memoryBytesMax: number
  readonly hung: (handle: WorkerHandle, silentMs: number) => void
  readonly grown: (handle: WorkerHandle) => void
}): Watchdog {
  const { members, hangMs, memoryBytesMax, hung, grown } = options
  const silences = new WeakMap<WorkerHandle, Silence>()
  const pointedOut = new WeakSet<WorkerHandle>()
  let lookedMs = performance.now()
  let looks = 0

  const inspect = (handle: WorkerHandle, inTime: boolean, nowMs: number): void => {
    const { pid = 0 } = handle.worker.process
    if (handle.listeningSinceMs === 0) {
      // The first table may take minutes, and nobody is told to listen before it is there.
      if (handle.startRequestedMs === 0 || nowMs - handle.startRequestedMs < startMsMax) return
      pointedOut.add(handle)
      hung(handle, startMsMax)
      return
    }
    let silence = silences.get(handle)
    if (silence === undefined || silence.lastMessageMs !== handle.lastMessageMs) {
      silence = { ms: 0, lastMessageMs: handle.lastMessageMs, cpuMs: -1 }
      silences.set(handle, silence)
    } else if (inTime) {
      silence.ms += heartbeatMs
      // Looked at only when the second beat is missed: healthy workers cost nothing.
      if (silence.cpuMs < 0) silence.cpuMs = processOf(pid)?.cpuMs ?? 0
    }
    if (silence.ms < hangMs) return
    if (silence.ms < hangMs * starvedFactor && isStarved(pid, silence)) return
    const { ms, lastMessageMs } = silence
    // A beat may have come that this loop has not read yet: it reads between here and there.
    setImmediate(() => {
      if (handle.lastMessageMs !== lastMessageMs || pointedOut.has(handle)) return
      pointedOut.add(handle)
      hung(handle, ms)
    })
  }

  const timer = setInterval(() => {
    const nowMs = performance.now()
    const inTime = nowMs - lookedMs < lateMs
    lookedMs = nowMs
    looks += 1
    for (const handle of members()) {
      if (pointedOut.has(handle) || handle.retired) continue
      inspect(handle, inTime, nowMs)
      if (looks % memoryEvery !== 0) continue
      handle.privateBytes = privateBytesOf(handle.worker.process.pid ?? 0)
      if (handle.listeningSinceMs === 0 || handle.privateBytes <= memoryBytesMax) continue
      pointedOut.add(handle)
      grown(handle)
    }
  }, heartbeatMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** It is runnable and was hardly let run, or waits for a disk. */
function isStarved(pid: number, silence: Silence): boolean {
  const process = processOf(pid)
  if (process === undefined) return false
  if (process.state === 'D') return true
  const share = (process.cpuMs - silence.cpuMs) / silence.ms
  return process.state === 'R' && share < runningShareMin
}

/**
 * State and processor time of the thread whose loop it is: others may run while that one waits. The
 * name in it may hold spaces and parentheses.
 */
function processOf(pid: number): { readonly state: string; readonly cpuMs: number } | undefined {
  const text = readProcFile(`/proc/${pid}/task/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * tickMs
  return Number.isNaN(cpuMs) ? undefined : { state: fields[0] ?? '', cpuMs }
}

/** Resident memory that no other process shares; the table's pages are the file's. */
function privateBytesOf(pid: number): number {
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(readProcFile(`/proc/${pid}/status`))?.[1]
  return kibibytes === undefined ? 0 : Number(kibibytes) * 1024
}

function readProcFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has just ended, or this system has no /proc.
    return ''
  }
}
