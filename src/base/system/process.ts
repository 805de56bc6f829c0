// Facts of processes, on Linux from /proc (proc(5)), and their priority. No function here fails:
// for a process that has ended, or without /proc, the answer is `undefined` or empty.

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
 * Within it a process id means one process: a machine, and on it a container (those of a pod share
 * their host name, not their process ids). Another boot has the same name (`bootId`).
 */
export function pidNamespaceName(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** `''` where there is none. */
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
  /** `R` runs or could, `S` sleeps, `D` waits for a disk. */
  readonly state: string
  readonly nice: number
  /** Of a hundredth of a second, user and system time. */
  readonly ticks: number
}

/** The name may hold spaces and parentheses. */
export function parseStat(line: string): ProcessStat | undefined {
  const nameEnd = line.lastIndexOf(')')
  if (nameEnd < 0) return undefined
  // The manual counts from 1; the third field is the first behind the name.
  const fields = line.slice(nameEnd + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  const [pid, parent, ticks] = [Number.parseInt(line, 10), field(4), field(14) + field(15)]
  if (Number.isNaN(pid + parent + ticks)) return undefined
  return { pid, parent, state: fields[0] ?? '', nice: field(19), ticks }
}

/** The first thread has the process's id. */
export function threadStatOf(pid: number, thread: number): ProcessStat | undefined {
  return parseStat(readSystemFile(`/proc/${pid}/task/${thread}/stat`))
}

export function socketInodesOf(pid: number): readonly number[] {
  const folder = `/proc/${pid}/fd`
  return namesIn(folder).flatMap((name) => {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1]
      return inode === undefined ? [] : [Number(inode)]
    } catch {
      // It was closed since the folder was read.
      return []
    }
  })
}

/** Resident memory that belongs to no file and is not shared. */
export function privateBytesOf(pid: number): number | undefined {
  const status = readSystemFile(`/proc/${pid}/status`)
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/**
 * For a process beside which workers answer; threads that it starts later inherit it. With a lower
 * one, a busy machine would take minutes for a table of the world.
 */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system forbids it; the result is the same.
  }
}
