// The band of a score (contract 3.1). Only the score decides; nothing else of a verdict does.

import type { Level } from './kind.ts'

/** The least score of each level, highest level first. */
export const levelFloors = [
  { level: 'critical', least: 90 },
  { level: 'very_high', least: 75 },
  { level: 'high', least: 50 },
  { level: 'medium', least: 25 },
  { level: 'low', least: 0 },
] as const satisfies readonly { readonly level: Level; readonly least: number }[]

/** The level of a score from 0 to 100. */
export function riskLevelOf(score: number): Level {
  for (const { level, least } of levelFloors) {
    if (score >= least) return level
  }
  return 'low'
}
