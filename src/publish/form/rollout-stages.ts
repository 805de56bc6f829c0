// A table goes to some machines first: `10%,50%+1h,100%+4h` lets a tenth of them have it at once,
// half of them after an hour, and all after four. Which machines are the first follows from their
// names alone, so that it is the same ones each time, and no machine has to know of another.

import { createHash } from 'node:crypto'
import type { Stage } from './manifest.ts'

/** The place of a machine among all: from 0 up to 100, the same for ever. */
export function machinePercent(machine: string): number {
  const hash = createHash('sha256').update(machine).digest()
  return (hash.readUIntBE(0, 6) / 2 ** 48) * 100
}

/** Whether the machine may take what has these stages. */
export function mayTake(stages: readonly Stage[], machine: string, now: number): boolean {
  if (stages.length === 0) return true
  const percent = machinePercent(machine)
  return stages.some((stage) => stage.from <= now && percent < stage.percent)
}
