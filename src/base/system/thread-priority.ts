// Priorities of threads and programs (Linux: sched(7)), where the system allows them.

import { existsSync } from 'node:fs'
import os from 'node:os'
import { delimiter, join } from 'node:path'
import koffi from 'koffi'

const SCHED_FLAG_KEEP_POLICY = 8
/** Number of sched_setattr, which Debian's C library lacks. */
const setattrNumbers = { x64: 314, arm64: 274 } as const

const call = 'long syscall(long number, int pid, const void *attributes, unsigned int flags)'
const syscall = process.platform === 'linux' ? koffi.load(null).func(call) : undefined

const lowest = os.constants.priority.PRIORITY_LOW

/** Linux's shortest slice. */
const shortestSliceNs = 100_000n

/**
 * Slices of 0.1 ms for the calling thread and threads that it starts: shorter waits on busy cores
 * (Linux 6.12 and later).
 */
export function useShortTimeSlices(): void {
  ignoreErrors(setSlice)
}

/**
 * Niceness 19 for the calling thread: one part in seventy of a busy core. With SCHED_IDLE, one in
 * three hundred, insights would stay 503 on full cores, and a thread that waits for its lock would
 * too (`npm run bench -- pool --compare-priorities`). Short slices are kept: p99 of checks beside a
 * full pool was 6.0, 4.9 and 5.4 ms with them, 6.2, 5.7 and 6.1 ms without (2026-11-22, Intel Xeon,
 * alternating).
 */
export function setLowestPriority(): void {
  ignoreErrors(() => os.setPriority(lowest))
}

/** `command` at the lowest priority with all its threads, by nice(1), if the system has it. */
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
    // Priorities stay unchanged.
  }
}
