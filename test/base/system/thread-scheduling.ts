// What the kernel says of a thread's scheduling (/proc/<pid>/sched), for tests.

import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'

const [major = 0, minor = 0] = release().split('.').map(Number)

/** Whether threads have slices of their own here, and it says so: Linux 6.12 and later. */
export const hasSlices =
  (major > 6 || (major === 6 && minor >= 12)) && existsSync('/proc/thread-self/sched')

/** A number by its name there, of a process's main thread or of the calling one. */
export function schedOf(thread: number | 'thread-self', name: 'policy' | 'se.slice'): number {
  const lines = readFileSync(`/proc/${thread}/sched`, 'utf8').split('\n')
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(':')[1])
}
