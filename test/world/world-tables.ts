// World tables for tests: compiled from the shared feeds, all feeds on, by the real command line,
// once a run (test/world/world.setup.ts); for each day one from the snapshots alone, and one that knows
// the sixty real days before, too. Tests that read them skip with a reason where the feeds are not.

import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../dist/world', import.meta.url))

/** Days that count as today; the second is that of the one large list of residential proxies. */
export const worldDays = ['2026-08-22', '2025-11-22'] as const
export type WorldDay = (typeof worldDays)[number]

/** Path of the table as of `day`, from the snapshots alone. */
export function worldTable(day: WorldDay = '2026-08-22'): string {
  return `${folder}/${day}.iprisk`
}

/** Path of the table as of `day` that was built over the imported history. */
export function historyTable(day: WorldDay = '2026-08-22'): string {
  return `${folder}/${day}.history.iprisk`
}

/** Path of the JSON report of that build. */
export function historyReport(day: WorldDay = '2026-08-22'): string {
  return `${folder}/${day}.history.json`
}

/** The store of the imported history, as the builds left it. */
export const historyStore = `${folder}/history`

/** The snapshots that the tables without history were compiled from. */
export const worldSnapshots = `${folder}/snapshots`

/** Path of the build's JSON report as of `day`. */
export function worldReport(day: WorldDay = '2026-08-22'): string {
  return `${folder}/${day}.json`
}
