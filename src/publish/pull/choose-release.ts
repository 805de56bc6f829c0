// Chooses the table of a manifest that this machine serves. Pure.
//
//   the serial is ahead of the clock               refused: it would outdate all manifests after it
//   the manifest names another place               refused: its tables are for other servers
//   the serial is lower than one seen before       refused: a replay
//   no release has a supported format              refused
//   the first release whose stage has come         that one; without any: wait
//   the table in use was withdrawn                 the first release, when its stage has come
//   it is older than the table in use              refused
//
// A machine keeps its table even if the manifest's stages no longer include that machine.

import { createHash } from 'node:crypto'
import { type Day, dayOf, isFuture, parseDay } from '../../base/day.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import type { PullRefusal } from '../fetch/pull-refusal.ts'
import { type Manifest, type Release, type Stage, serialAhead } from '../form/manifest.ts'

export type ReleaseChoice =
  | { readonly kind: 'take'; readonly release: Release }
  /** In use already, or its stage has not come. */
  | { readonly kind: 'stay' }
  | ({ readonly kind: 'refused' } & PullRefusal)

export interface ManifestContext {
  /** The highest of the trusted keys; 0 if none was seen. */
  readonly serial: number
  readonly expectedPlace?: string | undefined
  readonly seenPlace?: string | undefined
  readonly now: number
}

export function manifestRefusal(
  manifest: Manifest,
  context: ManifestContext,
): PullRefusal | undefined {
  const { serial, now } = context
  const ahead = serialAhead(manifest.serial, now)
  if (ahead !== undefined) return { code: 'future', reason: ahead }
  const elsewhere = otherPlace(manifest.place, context)
  if (elsewhere !== undefined) return { code: 'place', reason: elsewhere }
  if (manifest.serial >= serial) return undefined
  const reason = `its manifest is dated ${instantOf(manifest.serial)}, older than one of ${instantOf(serial)} seen before`
  return { code: 'replay', reason }
}

function otherPlace(
  named: string | undefined,
  { expectedPlace, seenPlace }: ManifestContext,
): string | undefined {
  if (named === undefined) {
    if (expectedPlace === undefined && seenPlace === undefined) return undefined
    const why =
      expectedPlace === undefined
        ? `the last one named "${seenPlace}"`
        : `--table-place expects "${expectedPlace}"`
    return `its manifest names no place, and ${why}: publish with a version that names places`
  }
  if (named === (expectedPlace ?? seenPlace ?? named)) return undefined
  const own =
    expectedPlace === undefined
      ? `"${seenPlace}" as the last one. If that is its new name, set --table-place`
      : `"${expectedPlace}" (--table-place)`
  return `its manifest names the place "${named}", not ${own}`
}

export interface ChoiceContext {
  readonly current: { readonly id: string; readonly asOf: number } | undefined
  readonly machine: string
  readonly now: number
}

/** After `manifestRefusal`. */
export function chooseRelease(manifest: Manifest, context: ChoiceContext): ReleaseChoice {
  const { current, machine, now } = context
  const readable = manifest.releases.filter(({ format }) => format.major === formatMajor)
  if (readable.length === 0) {
    const formats = manifest.releases.map(({ format, program }) => `${format.major} (${program})`)
    const reason = `it has no table of format ${formatMajor}, only of ${formats.join(', ')}`
    return { kind: 'refused', code: 'format', reason }
  }
  const release = readable.find(({ stages }) => mayTake(stages, machine, now))
  if (release === undefined || release.id === current?.id) return { kind: 'stay' }
  if (current === undefined) return { kind: 'take', release }
  if (manifest.withdrawn.includes(current.id)) {
    // Only to the first one; until its stage the withdrawn one stays.
    return release === readable[0] ? { kind: 'take', release } : { kind: 'stay' }
  }
  const own = readable.findIndex(({ id }) => id === current.id)
  if (own >= 0 && own < readable.indexOf(release)) return { kind: 'stay' }
  const day = parseDay(release.as_of)
  // A table with a future day would make all later ones older.
  const binds = !isFuture(current.asOf as Day, dayOf(now))
  if (binds && day !== undefined && day < current.asOf) {
    const reason = `its table ${release.id} is older than ${current.id}, which was not withdrawn`
    return { kind: 'refused', code: 'older', reason }
  }
  return { kind: 'take', release }
}

const instantOf = (serial: number): string => new Date(serial).toISOString()

/**
 * A machine's constant place among all, from 0 to 100, by a hash of its name. With the stages
 * `10%,50%+1h,100%+4h` a tenth of the machines load a table at once, half after an hour, and all
 * after four, without coordination.
 */
export function machinePercent(machine: string): number {
  const hash = createHash('sha256').update(machine).digest()
  return (hash.readUIntBE(0, 6) / 2 ** 48) * 100
}

export function mayTake(stages: readonly Stage[], machine: string, now: number): boolean {
  if (stages.length === 0) return true
  const percent = machinePercent(machine)
  return stages.some((stage) => stage.from <= now && percent < stage.percent)
}
