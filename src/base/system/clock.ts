// The clock that all processes of a machine share, and the name of its boot. Not the time of day:
// rates are counted on this clock, which never jumps.

import { readFileSync } from 'node:fs'

/**
 * What to add to this process's `performance.now()` to get milliseconds of CLOCK_MONOTONIC, exact
 * to about a microsecond: the reading with the smallest gap around it counts.
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

/** Names the boot, with which CLOCK_MONOTONIC starts anew; `unknown` elsewhere than on Linux. */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    const text = readFileSync(path, 'latin1').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : 'unknown'
  } catch {
    return 'unknown'
  }
}
