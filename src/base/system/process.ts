// Facts about processes, on Linux from /proc (proc(5)), and their priority. Never throws:
// `undefined` or empty for a process that ended, or without /proc.

import { readFileSync, readlinkSync } from 'node:fs'
import { constants, hostname, setPriority } from 'node:os'
import { namesIn } from './atomic-file.ts'

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * Scope of process ids: a machine and container (containers of a pod share their host name). Not
 * unique across boots (`bootId`).
 */
export function pidNamespaceName(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** `''` if it cannot be read. */
export function readSystemFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export interface ProcessStat {
  readonly pid: number
  readonly parent: number
  /** `R` running or runnable, `S` sleeping, `D` waiting for a disk. */
  readonly state: string
  readonly nice: number
  /** User and system time, in hundredths of a second. */
  readonly ticks: number
}

/** The name may contain spaces and parentheses. */
export function parseStat(line: string): ProcessStat | undefined {
  const nameEnd = line.lastIndexOf(')')
  if (nameEnd < 0) return undefined
  // The manual counts from 1; the third field follows the name.
  const fields = line.slice(nameEnd + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  const [pid, parent, ticks] = [Number.parseInt(line, 10), field(4), field(14) + field(15)]
  if (Number.isNaN(pid + parent + ticks)) return undefined
  return { pid, parent, state: fields[0] ?? '', nice: field(19), ticks }
}

/** The first thread has the process's id. */
export const threadStatOf = (pid: number, thread: number): ProcessStat | undefined =>
  parseStat(readSystemFile(`/proc/${pid}/task/${thread}/stat`))

export function socketInodesOf(pid: number): readonly number[] {
  const folder = `/proc/${pid}/fd`
  return namesIn(folder).flatMap((name) => {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1]
      return inode === undefined ? [] : [Number(inode)]
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

/** Resident memory that is neither file-backed nor shared. */
export function privateBytesOf(pid: number): number | undefined {
  const status = readSystemFile(`/proc/${pid}/status`)
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/**
 * For a process beside serving workers; inherited by its later threads. At a lower priority, a busy
 * machine would take minutes for a large table.
 */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system forbids it.
  }
}
