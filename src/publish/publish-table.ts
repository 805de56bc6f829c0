// Publishes a table at a place: the parts that the place lacks, then the index, and last, at one
// moment, the manifest. A run that is cut off leaves parts that nobody names, which a later run
// finds there or removes; never a manifest that names what is not there.
//
// One publisher a place and format at a time: two that run at once may each write a manifest that
// does not know the other's table. The parts of both are kept long enough for the next run to mend
// it.
//
// Two program versions with two formats publish at the same place: each run leaves the releases of
// other formats as they are, so a manifest offers both, and each server takes what it reads.

import { formatDay } from '../base/day.ts'
import { IpriskError } from '../base/coded-error.ts'
import { manifestBytesMax, manifestReleasesMax, manifestWithdrawnMax } from '../base/limits.ts'
import { packageVersion } from '../base/package-root.ts'
import { mapFile } from '../base/system/memory-map.ts'
import { formatMajor, formatMinor } from '../schema/table-layout.ts'
import { readTableView } from '../table/file/table-view.ts'
import { verifyTable } from '../table/file/verify/verify-table.ts'
import { contentName } from './form/content-name.ts'
import {
  type Manifest,
  type Release,
  manifestName,
  openManifest,
  publishedForm,
  sealManifest,
} from './form/manifest.ts'
import type { PartEntry, PartIndex } from './form/part-index.ts'
import { tableSegments } from './form/segments.ts'
import type { SigningKey } from './form/signing-key.ts'
import type { PlannedStage } from '../config/values/publish-values.ts'
import type { PublishPlace } from './places/publish-place.ts'
import { knownParts, putIndex, putParts } from './place-parts.ts'
import { prunePlace } from './prune-place.ts'

export interface PublishOptions {
  readonly place: PublishPlace
  readonly key: SigningKey
  readonly stages: readonly PlannedStage[]
  /** How long parts stay that no release names, and releases that another one has replaced. */
  readonly keepMs: number
  /**
   * Starts a manifest anew where the one there cannot be trusted, and goes back in time: an older
   * table withdraws those that are newer.
   */
  readonly force: boolean
  readonly now: number
}

export interface Published {
  readonly manifest: Manifest
  readonly release: Release
  /** What this run put there. */
  readonly moved: { readonly parts: number; readonly bytes: number }
  readonly pruned: number
}

/** Throws `publish_refused`, what the table's verification throws, and what the place throws. */
export async function publishTable(path: string, options: PublishOptions): Promise<Published> {
  const { place, key, now } = options
  verifyTable(path)
  const before = await currentManifest(options)
  const map = mapFile(path)
  try {
    const view = readTableView(map.bytes, path)
    const newest = before?.releases.find(isOwnFormat)
    if (newest?.id === view.id) return await restage(before!, newest, options)
    const asOf = formatDay(view.asOf)
    refuseOlder({ id: view.id, asOf, before, newest }, options.force)
    const known =
      newest === undefined ? new Map<string, PartEntry>() : await knownParts(place, newest)
    const cut = await putParts(map.bytes, {
      segments: tableSegments(view, map.bytes),
      place,
      known,
    })
    const index: PartIndex = { bytes: map.bytes.length, segments: cut.segments }
    const stored = await putIndex(place, index)
    const release: Release = {
      id: view.id,
      as_of: asOf,
      format: { major: formatMajor, minor: formatMinor },
      program: packageVersion,
      published: now,
      bytes: map.bytes.length,
      sha256: contentName(map.bytes),
      index: stored,
      stored: cut.storedBytes,
      stages: stagesFrom(options),
    }
    // A server takes an older table than its own where that was withdrawn, and else never.
    const isNewer = (each: Release): boolean => isOwnFormat(each) && each.as_of > asOf
    const old = before?.releases ?? []
    const kept = stillKept(old, options).filter((each) => each.id !== view.id && !isNewer(each))
    const releases = [release, ...kept]
    const gone = [...old.filter(isNewer).map(({ id }) => id), ...(before?.withdrawn ?? [])]
    const withdrawn = gone.filter((id) => id !== view.id)
    const manifest = manifestOf({ before, releases, withdrawn, now })
    await place.replace(manifestName, Buffer.from(sealManifest(manifest, key), 'utf8'))
    const moved = { parts: cut.putParts + 1, bytes: cut.putBytes + stored.bytes }
    return { manifest, release, moved, pruned: await prunePlace(place, manifest, options) }
  } finally {
    map.unmap()
  }
}

/** Lets every server go back to the table `id`, which is still there; those after it are withdrawn. */
export async function publishRollback(id: string, options: PublishOptions): Promise<Published> {
  const { place, key, now } = options
  const before = await currentManifest(options)
  const releases = before?.releases ?? []
  const at = releases.findIndex((release) => release.id === id)
  const target = releases[at]
  if (before === undefined || target === undefined) {
    const there = releases.map((release) => release.id).join(', ') || 'none'
    throw refusal(`There is no table ${id} at ${place.name}. There are: ${there}.`)
  }
  const isNewer = (release: Release, index: number): boolean =>
    index < at && release.format.major === target.format.major
  const gone = releases.filter(isNewer).map((release) => release.id)
  const release = { ...target, stages: stagesFrom(options) }
  const left = releases.filter((each, index) => !isNewer(each, index) && each !== target)
  const withdrawn = [...gone, ...before.withdrawn.filter((each) => each !== id)]
  const manifest = manifestOf({ before, releases: [release, ...left], withdrawn, now })
  await place.replace(manifestName, Buffer.from(sealManifest(manifest, key), 'utf8'))
  return { manifest, release, moved: { parts: 0, bytes: 0 }, pruned: 0 }
}

/** The table that is published already, with the stages that are asked for now. */
async function restage(
  before: Manifest,
  newest: Release,
  options: PublishOptions,
): Promise<Published> {
  const { place, key, now } = options
  const release = { ...newest, stages: stagesFrom(options) }
  const releases = before.releases.map((each) => (each === newest ? release : each))
  const manifest = manifestOf({ before, releases, withdrawn: before.withdrawn, now })
  await place.replace(manifestName, Buffer.from(sealManifest(manifest, key), 'utf8'))
  return { manifest, release, moved: { parts: 0, bytes: 0 }, pruned: 0 }
}

/** The manifest that is there, which this publisher must have signed. */
async function currentManifest(options: PublishOptions): Promise<Manifest | undefined> {
  const { place, key, force } = options
  const bytes = await place.read(manifestName, manifestBytesMax)
  if (bytes === undefined) return undefined
  const opened = openManifest(bytes.toString('utf8'), [key.trusted])
  if (opened.kind === 'manifest') return opened.manifest
  if (force) return undefined
  const hint =
    'Publish to another place, sign with the key that was used, or add --force to begin anew.'
  throw refusal(`The manifest at ${place.name} is not continued: ${opened.why}. ${hint}`)
}

function refuseOlder(
  of: {
    readonly id: string
    readonly asOf: string
    readonly before: Manifest | undefined
    readonly newest: Release | undefined
  },
  force: boolean,
): void {
  const { id, asOf, before, newest } = of
  if (force) return
  if (before?.withdrawn.includes(id) === true) {
    throw refusal(`The table ${id} was withdrawn by a rollback; --force publishes it all the same.`)
  }
  if (newest !== undefined && asOf < newest.as_of) {
    throw refusal(
      `The table ${id} is of ${asOf}, older than ${newest.id} of ${newest.as_of} that is published: ` +
        '--rollback-to goes back to a published table, --force publishes this one.',
    )
  }
}

function isOwnFormat({ format }: Release): boolean {
  return format.major === formatMajor
}

/** What stays beside a new release: the one before it in any case, others for a while. */
function stillKept(releases: readonly Release[], options: PublishOptions): readonly Release[] {
  const firsts = new Set<number>()
  return releases
    .filter(({ format, published }) => {
      const isFirst = !firsts.has(format.major)
      firsts.add(format.major)
      return isFirst || published > options.now - options.keepMs
    })
    .slice(0, manifestReleasesMax - 1)
}

function manifestOf(of: {
  readonly before: Manifest | undefined
  readonly releases: readonly Release[]
  readonly withdrawn: readonly string[]
  readonly now: number
}): Manifest {
  const { before, releases, withdrawn, now } = of
  return {
    form: publishedForm,
    // A place that was emptied begins anew, and its serials are higher all the same.
    serial: Math.max((before?.serial ?? 0) + 1, now),
    releases: [...releases],
    withdrawn: withdrawn.slice(0, manifestWithdrawnMax),
  }
}

function stagesFrom({ stages, now }: PublishOptions): Release['stages'] {
  return stages.map(({ percent, afterMs }) => ({ percent, from: now + afterMs }))
}

function refusal(message: string): IpriskError {
  return new IpriskError({ code: 'publish_refused', message, fault: 'input' })
}
