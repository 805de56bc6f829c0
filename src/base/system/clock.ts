// The clock that all processes of a machine share, and the name of the machine's present run. Not
// the time of day: periods are counted in UTC (Date.now), rates on this clock, which never jumps.

import { readFileSync } from 'node:fs'

/**
 * What to add to this process's `performance.now()` to get milliseconds of CLOCK_MONOTONIC, which
 * is the same in every process of the machine. Exact to about a microsecond: of several readings
 * the one with the smallest gap around it counts.
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

/**
 * Names the machine's present run: CLOCK_MONOTONIC starts anew with the next one. `unknown` where
 * the system does not tell (it is Linux that does).
 */
export function bootId(path = '/proc/sys/kernel/random/boot_id'): string {
  try {
    const text = readFileSync(path, 'latin1').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : 'unknown'
  } catch {
    return 'unknown'
  }
}
