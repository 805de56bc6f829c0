// The vigil over the workers: one whose loop does not turn, or that holds more memory than it may, is
// pointed out to the crew, which replaces it. Looks from outside, for a hung process says nothing.
//
// Invariants: silence counts only while this loop itself is in time, so that a machine that slept
// condemns nobody; a worker that wants a core and does not get one is not hung, only slow, and is
// given ten times as long; what a system does not tell (no /proc) is never held against a worker.

import { readFileSync } from 'node:fs'
import type { Member } from './worker-registry.ts'

/** So often a worker beats, and the vigil looks. */
export const beatMs = 100

/** A worker that has not listened by then never will: it hangs in its start. */
const startMsMax = 60_000

/** Memory is looked at more seldom. */
const memoryEvery = 5

/** A look that comes later than this after the one before counts for nothing. */
const lateMs = beatMs * 3

/** Patience with a worker that waits for a core, or for a disk. */
const starvedFactor = 10

/** Of the time of its silence, what share of a core makes a waiting worker one that runs. */
const runningShareMin = 0.2

/** The kernel counts processor time in hundredths of a second (USER_HZ, proc_pid_stat(5)). */
const tickMs = 10

export interface Vigil {
  readonly stop: () => void
}

interface Silence {
  /** Of looks that were in time. */
  ms: number
  heardMs: number
  /** Processor time used when it began. */
  cpuMs: number
}

/** Calls `hung` and `grown` once for each member that is. */
export function keepVigil(options: {
  readonly members: () => Iterable<Member>
  readonly hangMs: number
  readonly memoryBytesMax: number
  readonly hung: (member: Member, silentMs: number) => void
  readonly grown: (member: Member) => void
}): Vigil {
  const { members, hangMs, memoryBytesMax, hung, grown } = options
  const silences = new WeakMap<Member, Silence>()
  const pointedOut = new WeakSet<Member>()
  let lookedMs = performance.now()
  let looks = 0

  const lookAt = (member: Member, inTime: boolean, nowMs: number): void => {
    const { pid = 0 } = member.worker.process
    if (member.listeningMs === 0) {
      // The first table may take minutes, and nobody is told to listen before it is there.
      if (member.awaitedMs === 0 || nowMs - member.awaitedMs < startMsMax) return
      pointedOut.add(member)
      hung(member, startMsMax)
      return
    }
    let silence = silences.get(member)
    if (silence === undefined || silence.heardMs !== member.heardMs) {
      silence = { ms: 0, heardMs: member.heardMs, cpuMs: -1 }
      silences.set(member, silence)
    } else if (inTime) {
      silence.ms += beatMs
      // Looked at only when the second beat is missed: healthy workers cost nothing.
      if (silence.cpuMs < 0) silence.cpuMs = processOf(pid)?.cpuMs ?? 0
    }
    if (silence.ms < hangMs) return
    if (silence.ms < hangMs * starvedFactor && isStarved(pid, silence)) return
    const { ms, heardMs } = silence
    // A beat may have come that this loop has not read yet: it reads between here and there.
    setImmediate(() => {
      if (member.heardMs !== heardMs || pointedOut.has(member)) return
      pointedOut.add(member)
      hung(member, ms)
    })
  }

  const timer = setInterval(() => {
    const nowMs = performance.now()
    const inTime = nowMs - lookedMs < lateMs
    lookedMs = nowMs
    looks += 1
    for (const member of members()) {
      if (pointedOut.has(member) || member.retired) continue
      lookAt(member, inTime, nowMs)
      if (looks % memoryEvery !== 0) continue
      member.privateBytes = privateBytesOf(member.worker.process.pid ?? 0)
      if (member.listeningMs === 0 || member.privateBytes <= memoryBytesMax) continue
      pointedOut.add(member)
      grown(member)
    }
  }, beatMs)
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
  const text = read(`/proc/${pid}/task/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * tickMs
  return Number.isNaN(cpuMs) ? undefined : { state: fields[0] ?? '', cpuMs }
}

/** Resident memory that no other process shares; the table's pages are the file's. */
function privateBytesOf(pid: number): number {
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return kibibytes === undefined ? 0 : Number(kibibytes) * 1024
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has just ended, or this system has no /proc.
    return ''
  }
}
