// The clock that all processes of a machine share and that never jumps, and the boot's id.

import { readFileSync } from 'node:fs'

/**
 * Added to `performance.now()`, gives CLOCK_MONOTONIC in milliseconds, to about a microsecond: the
 * reading in the smallest gap counts.
 */
export function machineOffsetMs(): number {
  let offset = 0
  let gap = Infinity
  for (let reading = 0; reading < 32; reading += 1) {
    const before = performance.now()
    const machine = Number(process.hrtime.bigint()) / 1e6
    const after = performance.now()
    if (after - before >= gap) continue
    gap = after - before
    offset = machine - (before + after) / 2
  }
  return offset
}

/** CLOCK_MONOTONIC restarts with each boot; `unknown` except on Linux. */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    const text = readFileSync(path, 'latin1').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : 'unknown'
  } catch {
    return 'unknown'
  }
}
