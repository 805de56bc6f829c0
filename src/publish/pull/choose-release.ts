// Which table of a manifest this machine shall serve now. Pure.
//
//   the serial is ahead of the clock               refused: it would outdate all that come after it
//   the manifest is of another place               refused: its tables are for other servers
//   the serial is lower than one that was seen     refused: somebody shows an old manifest
//   no release of a format that is read here       refused
//   the first release whose stage has come         that is the one; none: wait
//   the table in use was withdrawn                 the first release, when its stage has come
//   it is older than the table in use              refused
//
// A table that this machine has taken stays, though the manifest now lets fewer machines have it.

import { createHash } from 'node:crypto'
import { type Day, dayOf, isYetToCome, parseDay } from '../../base/day.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import type { PullRefusal } from '../fetch/pull-refusal.ts'
import { type Manifest, type Release, type Stage, serialAhead } from '../form/manifest.ts'

export type ReleaseChoice =
  | { readonly kind: 'take'; readonly release: Release }
  /** It has it, or its stage has not come. */
  | { readonly kind: 'stay' }
  | ({ readonly kind: 'refused' } & PullRefusal)

export interface ManifestContext {
  /** Of the trusted keys; 0 where none was seen. */
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
  const reason = `its manifest is of ${instantOf(manifest.serial)}, older than the one of ${instantOf(serial)} that was seen here`
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
        ? `the one before named "${seenPlace}"`
        : `--table-place asks for "${expectedPlace}"`
    return `its manifest names no place, and ${why}: publish with a version that names places`
  }
  if (named === (expectedPlace ?? seenPlace ?? named)) return undefined
  const own =
    expectedPlace === undefined
      ? `"${seenPlace}", as the one before. If that is its new name, set --table-place`
      : `"${expectedPlace}", which --table-place names`
  return `its manifest is of the place "${named}", not of ${own}`
}

export interface ChoiceContext {
  readonly current: { readonly id: string; readonly asOf: number } | undefined
  readonly machine: string
  readonly now: number
}

/** `manifestRefusal` has let it pass. */
export function chooseRelease(manifest: Manifest, context: ChoiceContext): ReleaseChoice {
  const { current, machine, now } = context
  const readable = manifest.releases.filter(({ format }) => format.major === formatMajor)
  if (readable.length === 0) {
    const formats = manifest.releases.map(({ format, program }) => `${format.major} (${program})`)
    const reason = `it has no table of format ${formatMajor}, but of ${formats.join(', ')}`
    return { kind: 'refused', code: 'format', reason }
  }
  const release = readable.find(({ stages }) => mayTake(stages, machine, now))
  if (release === undefined || release.id === current?.id) return { kind: 'stay' }
  if (current === undefined) return { kind: 'take', release }
  if (manifest.withdrawn.includes(current.id)) {
    // Back to the first one and to no other; until its stage the withdrawn one stays.
    return release === readable[0] ? { kind: 'take', release } : { kind: 'stay' }
  }
  const own = readable.findIndex(({ id }) => id === current.id)
  if (own >= 0 && own < readable.indexOf(release)) return { kind: 'stay' }
  const day = parseDay(release.as_of)
  // A table of a day yet to come would make every later one an older one.
  const binds = !isYetToCome(current.asOf as Day, dayOf(now))
  if (binds && day !== undefined && day < current.asOf) {
    const reason = `its table ${release.id} is older than ${current.id}, which nobody has withdrawn`
    return { kind: 'refused', code: 'older', reason }
  }
  return { kind: 'take', release }
}

function instantOf(serial: number): string {
  return new Date(serial).toISOString()
}

/**
 * The place of a machine among all, from 0 up to 100, always the same. With the stages
 * `10%,50%+1h,100%+4h` a tenth of all take a table at once, half after an hour, and all after four,
 * by a hash of their names: no machine has to know of another.
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
