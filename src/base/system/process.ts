// What the system tells of processes: whether one lives, and on Linux what /proc shows of it
// (proc(5)); and one's priority. No function here fails: of a process that has ended, and on a
// system without /proc, the answer is `undefined` or empty.

import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { constants, hostname, setPriority } from 'node:os'

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
 * Names where a process id means one process: a machine, and on it a container (those of a pod
 * share their host name, not their process ids). Another run of the machine has the same name
 * (`bootId`).
 */
export function pidNamespaceName(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** A file of the kernel's, whole; `''` where there is none. */
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
  /** User and system time together, in ticks of a hundredth of a second. */
  readonly ticks: number
}

/** Parses the one line of a stat file. The name may hold spaces and parentheses. */
export function parseStat(line: string): ProcessStat | undefined {
  const nameEnd = line.lastIndexOf(')')
  if (nameEnd < 0) return undefined
  // Fields are counted from 1 in the manual; the third is the first behind the name.
  const fields = line.slice(nameEnd + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  const [pid, parent, ticks] = [Number.parseInt(line, 10), field(4), field(14) + field(15)]
  if (Number.isNaN(pid + parent + ticks)) return undefined
  return { pid, parent, state: fields[0] ?? '', nice: field(19), ticks }
}

/** A thread of a process; the first thread has the process's id. */
export function threadStatOf(pid: number, thread: number): ProcessStat | undefined {
  return parseStat(readSystemFile(`/proc/${pid}/task/${thread}/stat`))
}

export function threadIdsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

/** The inodes of the sockets that a process holds open. */
export function socketInodesOf(pid: number): readonly number[] {
  const folder = `/proc/${pid}/fd`
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1]
      return inode === undefined ? [] : [Number(inode)]
    } catch {
      // It was closed since the folder was read.
      return []
    }
  })
}

/** Resident memory that is no file's and that no other process shares. */
export function privateBytesOf(pid: number): number | undefined {
  const status = readSystemFile(`/proc/${pid}/status`)
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/**
 * Lowers the priority of a process beside which workers answer; threads that it starts later
 * inherit it. With a lower one still, a busy machine would take minutes for a table of the world.
 */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system forbids it; the result is the same.
  }
}
