// Priorities of threads and programs (Linux: sched(7)), where the system knows and allows them.

import { existsSync } from 'node:fs'
import os from 'node:os'
import { delimiter, join } from 'node:path'
import koffi from 'koffi'

const SCHED_FLAG_KEEP_POLICY = 8
/** The system call sched_setattr, for which Debian's C library has no function, by its number. */
const setattrNumbers = { x64: 314, arm64: 274 } as const

const call = 'long syscall(long number, int pid, const void *attributes, unsigned int flags)'
const syscall = process.platform === 'linux' ? koffi.load(null).func(call) : undefined

const lowest = os.constants.priority.PRIORITY_LOW

/** The shortest slice that Linux gives, nanoseconds. */
const shortestSliceNs = 100_000n

/**
 * Gives the calling thread slices of 0.1 ms: on busy cores it waits for less before each (Linux
 * 6.12 and later). Threads that it starts inherit that.
 */
export function useShortTimeSlices(): void {
  ignoreErrors(setSlice)
}

/**
 * Gives the calling thread niceness 19: of a core that is never idle it gets one part in seventy.
 * With SCHED_IDLE, one in three hundred, insights would be 503 for ever on full cores, and a thread
 * that waits for a lock of this one would wait as long (`npm run bench -- pool
 * --compare-priorities`).
 *
 * The thread keeps the short slices of the loop that started it: p99 of checks beside a full pool
 * was 6.0, 4.9 and 5.4 ms with them, 6.2, 5.7 and 6.1 ms with the system's (2026-11-22, Intel Xeon,
 * by turns).
 */
export function setLowestPriority(): void {
  ignoreErrors(() => os.setPriority(lowest))
}

/**
 * `command` at the lowest priority with all of its threads, by nice(1), which a system without
 * coreutils or BusyBox may lack.
 */
export function lowestPriorityCommand(command: readonly string[]): readonly string[] {
  const { PATH = '' } = process.env
  const paths = PATH.split(delimiter).map((folder) => join(folder, 'nice'))
  const nice = paths.find((path) => existsSync(path))
  return nice === undefined ? command : [nice, '-n', String(lowest), ...command]
}

function setSlice(): void {
  const { arch } = process
  if (arch !== 'x64' && arch !== 'arm64') return
  // struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period.
  const attributes = Buffer.alloc(48)
  attributes.writeUInt32LE(attributes.length, 0)
  attributes.writeBigUInt64LE(BigInt(SCHED_FLAG_KEEP_POLICY), 8)
  attributes.writeInt32LE(os.getPriority(0), 16)
  attributes.writeBigUInt64LE(shortestSliceNs, 24)
  syscall?.(setattrNumbers[arch], 0, attributes, 0)
}

function ignoreErrors(call: () => void): void {
  try {
    call()
  } catch {
    // All stays as it was.
  }
}
