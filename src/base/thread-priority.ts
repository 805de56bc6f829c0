// A thread's claim on the processor, by the C library (Linux: sched(7)). Whoever may not ask for it, or
// has a system that does not know it, works as before.

import os from 'node:os'
import koffi from 'koffi'

const SCHED_FLAG_KEEP_POLICY = 8
/** The system call sched_setattr, for which Debian's C library has no function, by its number. */
const setattrNumbers = { x64: 314, arm64: 274 } as const

const call = 'long syscall(long number, int pid, const void *attributes, unsigned int flags)'
const syscall = process.platform === 'linux' ? koffi.load(null).func(call) : undefined

/** The shortest slice that Linux gives, nanoseconds. */
const shortestSliceNs = 100_000n

/**
 * Lets the calling thread have its share of the processor in slices of 0.1 ms: on busy cores it waits
 * for less before each (Linux 6.12 and later). Threads that it starts inherit that. Of a worker's loop
 * that shares two cores with its load (2026-11-21, AMD EPYC, wrk with eight connections, 16 rounds by
 * turns in two runs): p99.9 5.9 ms without and 3.9 with it, and 6.3 and 5.5; kept runs
 * of `npm run bench -- http` have 5.7 before it and 3.5 with it.
 */
export function useShortTimeSlices(): void {
  ignoreErrors(setSlice)
}

/**
 * Gives a thread of this user's (0: the calling one alone) the lowest priority, niceness 19: of a core
 * that is never idle it gets one part in seventy. The policy SCHED_IDLE has one in three hundred: where
 * others fill the cores, insights would be 503 for ever, and who waits for a lock of such a thread waits as
 * long. What it gains checks is in `npm run bench -- pool --compare-priorities`.
 *
 * Slices stay as short as those of the loop that started it, for a thread that wakes up waits for the end of
 * the running one's (2026-11-22, Intel Xeon, by turns: p99 of checks beside a full pool 6.2, 5.7, 6.1 ms
 * where the pool had the system's slices, and 6.0, 4.9, 5.4 with short ones).
 */
export function setLowestPriority(thread = 0): void {
  ignoreErrors(() => os.setPriority(thread, os.constants.priority.PRIORITY_LOW))
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
    // As it was.
  }
}
