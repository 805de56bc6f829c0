// Publishes a table to a place: missing parts, then the index, and last, atomically, the manifest.
// An interrupted run leaves unnamed parts, which a later run reuses or removes.
//
// With two publishers at one place: the manifest is read again right before it is written. If both
// write in the same moment, one table is lost until that publisher's next run. A run keeps the
// releases of other formats, and servers choose those that they can read.

import { type IpriskError, messageOf, inputError } from '../base/coded-error.ts'
import { type Day, dayOf, formatDay, isFuture } from '../base/day.ts'
import { manifestBytesMax } from '../base/limits.ts'
import { packageVersion } from '../base/package-root.ts'
import { mapFile } from '../base/system/memory-map.ts'
import { type PlannedStage, placeNameForm } from '../config/values/publish-values.ts'
import { formatMajor, formatMinor } from '../schema/table-layout.ts'
import { readTableView, type TableView } from '../table/file/table-view.ts'
import { verifyTable } from '../table/file/verify/verify-table.ts'
import { takeTableCopy } from '../table/open-copied-table.ts'
import {
  contentName,
  type Manifest,
  manifestName,
  openManifest,
  publishedForm,
  type Release,
  sealManifest,
  serialAhead,
  manifestReleasesMax,
  manifestWithdrawnMax,
} from './form/manifest.ts'
import type { PartEntry } from './form/part-index.ts'
import { tableSegments } from './form/segments.ts'
import type { SigningKey } from './form/signing-key.ts'
import { knownParts, partName, putIndex, putParts, readIndex } from './place-parts.ts'
import type { PublishPlace } from './places/publish-place.ts'

/** In one run; a day leaves some hundred. */
const placePruneMax = 5000
/** A slow store would keep the publisher for days. */
const placePruneMsMax = 300_000

export interface PublishOptions {
  readonly place: PublishPlace
  /** Signed in the manifest; by default the folder, or the bucket with its prefix. */
  readonly placeName?: string | undefined
  readonly key: SigningKey
  readonly stages: readonly PlannedStage[]
  /** Keeps the stages of a table already published. */
  readonly keepStages?: boolean
  /** For parts without a release, and for replaced releases. */
  readonly keepMs: number
  /**
   * Replaces an untrusted manifest, uploads all parts again, publishes a table with a future day,
   * or goes back in time: an older table withdraws newer ones.
   */
  readonly force: boolean
  readonly now: number
  /** Returns the notice published with the table; throws if its licences do not allow that. */
  readonly noticeOf?: (table: TableView) => string
}

export interface Published {
  readonly manifest: Manifest
  readonly release: Release
  readonly moved: { readonly parts: number; readonly bytes: number }
  readonly pruned: number
  readonly pruneTrouble?: string
}

/**
 * Publishes a copy: the file may be overwritten during a long upload. Throws `publish_refused`, and
 * errors of verification and the place.
 */
export async function publishTable(path: string, options: PublishOptions): Promise<Published> {
  const copy = takeTableCopy(path)
  try {
    verifyTable(path, undefined, copy.path)
    return await publishFile({ path, mapped: copy.path }, options)
  } finally {
    copy.release()
  }
}

async function publishFile(
  { path, mapped }: { readonly path: string; readonly mapped: string },
  options: PublishOptions,
): Promise<Published> {
  const { place, now } = options
  const map = mapFile(mapped)
  try {
    const view = readTableView(map.bytes, path)
    const of = { id: view.id, as_of: formatDay(view.asOf) }
    refuseFuture(of, view.asOf, options)
    const notice = options.noticeOf?.(view)
    const first = await currentManifest(options)
    refuseOlder(of, first, options.force)
    const segments = tableSegments(view, map.bytes)
    // If a published table has all parts, nothing is uploaded.
    const newest = options.force ? undefined : first?.releases.find(isOwnFormat)
    const known =
      newest === undefined ? new Map<string, PartEntry>() : await knownParts(place, newest)
    const cut = await putParts(map.bytes, { segments, place, known })
    const index = await putIndex(place, { bytes: map.bytes.length, segments: cut.segments })
    // Another publisher may have written during the upload.
    const before = await currentManifest(options)
    refuseOlder(of, before, options.force)
    const there = before?.releases.find(({ id }) => id === view.id)
    const release: Release = {
      ...of,
      format: { major: formatMajor, minor: formatMinor },
      program: packageVersion,
      published: there?.published ?? now,
      bytes: map.bytes.length,
      sha256: contentName(map.bytes),
      index,
      stored: cut.storedBytes,
      stages: (options.keepStages === true ? there?.stages : undefined) ?? stagesFrom(options),
    }
    const manifest = withRelease(release, before, options)
    if (notice !== undefined) await place.keep(noticeName(view.id), Buffer.from(notice, 'utf8'))
    await putManifest(manifest, options)
    const indexes = new Set(before?.releases.map((each) => each.index.sha256))
    const indexBytes = indexes.has(index.sha256) ? 0 : index.bytes
    const moved = { parts: cut.putParts + Number(indexBytes > 0), bytes: cut.putBytes + indexBytes }
    // The table is published, even if old parts stay.
    const pruned = await prunePlace(place, manifest, options).catch(messageOf)
    if (typeof pruned === 'number') return { manifest, release, moved, pruned }
    return { manifest, release, moved, pruned: 0, pruneTrouble: pruned }
  } finally {
    map.unmap()
  }
}

export const noticeName = (table: string): string => `notices/${table}.txt`

function withRelease(
  release: Release,
  before: Manifest | undefined,
  options: PublishOptions,
): Manifest {
  const { id, as_of: day } = release
  const old = before?.releases.filter((each) => each.id !== id) ?? []
  // Servers go back to an older table only if theirs was withdrawn.
  const isNewer = (each: Release): boolean => isOwnFormat(each) && each.as_of > day
  // The newest older one stays at any age, for rollbacks.
  const older = old.filter((each) => !isNewer(each))
  const kept = stillKept(older, options)
  const gone = [...old.filter(isNewer).map((each) => each.id), ...(before?.withdrawn ?? [])]
  const withdrawn = gone.filter((each) => each !== id)
  return manifestOf(before, [release, ...kept], withdrawn, options)
}

/** Offers `id` to every server; withdraws later tables. */
export async function publishRollback(id: string, options: PublishOptions): Promise<Published> {
  const { place } = options
  const before = await currentManifest(options)
  const releases = before?.releases ?? []
  const at = releases.findIndex((release) => release.id === id)
  const target = releases[at]
  if (before === undefined || target === undefined) {
    const there = releases.map((release) => release.id).join(', ') || 'none'
    throw refusal(`${place.name} has no table ${id}. It has: ${there}.`)
  }
  const isNewer = (release: Release, index: number): boolean =>
    index < at && release.format.major === target.format.major
  const gone = releases.filter(isNewer).map((release) => release.id)
  const release = { ...target, stages: stagesFrom(options) }
  const left = releases.filter((each, index) => !isNewer(each, index) && each !== target)
  const withdrawn = [...gone, ...before.withdrawn.filter((each) => each !== id)]
  const manifest = manifestOf(before, [release, ...left], withdrawn, options)
  await putManifest(manifest, options)
  return { manifest, release, moved: { parts: 0, bytes: 0 }, pruned: 0 }
}

const putManifest = (manifest: Manifest, { place, key }: PublishOptions): Promise<void> =>
  place.replace(manifestName, Buffer.from(sealManifest(manifest, key), 'utf8'))

/** This publisher must have signed it. */
async function currentManifest(options: PublishOptions): Promise<Manifest | undefined> {
  const { place, key, force } = options
  placeNameOf(options)
  const bytes = await place.read(manifestName, manifestBytesMax)
  if (bytes === undefined) return undefined
  const opened = openManifest(bytes.toString('utf8'), [key.trusted])
  const why =
    opened.kind === 'manifest'
      ? notContinued(opened.manifest, options)
      : `${opened.why}. Publish to another place, sign with the key that was used, or add --force to start over`
  if (opened.kind === 'manifest' && why === undefined) return opened.manifest
  if (force) return undefined
  throw refusal(`Cannot continue the manifest at ${place.name}: ${why}.`)
}

/** Why a manifest signed by this publisher cannot be continued, and what to do. */
function notContinued(before: Manifest, options: PublishOptions): string | undefined {
  const ahead = serialAhead(before.serial, options.now)
  if (ahead !== undefined) {
    return `${ahead}. Replace a stolen key (docs/distribute.md); --force starts over`
  }
  const own = placeNameOf(options)
  if (before.place === undefined || before.place === own) return undefined
  return (
    `it names the place "${before.place}", and this one is "${own}". --place-name continues it ` +
    'under its name, if it belongs here; --force starts over under this one, and servers that ' +
    'know the other need --table-place'
  )
}

function placeNameOf({ place, placeName = place.name }: PublishOptions): string {
  if (placeNameForm.test(placeName)) return placeName
  throw refusal(`${place.name} is not valid as a place name: add --place-name.`)
}

/** Servers would refuse all later tables as older. */
function refuseFuture(
  { id, as_of: day }: Pick<Release, 'id' | 'as_of'>,
  asOf: Day,
  { force, now }: PublishOptions,
): void {
  const today = dayOf(now)
  if (force || !isFuture(asOf, today)) return
  throw refusal(
    `The table ${id} is dated ${day}, and today is ${formatDay(today)}: servers would refuse ` +
      'earlier tables after it. --force publishes it anyway.',
  )
}

function refuseOlder(
  { id, as_of: day }: Pick<Release, 'id' | 'as_of'>,
  before: Manifest | undefined,
  force: boolean,
): void {
  const newest = before?.releases.find(isOwnFormat)
  if (force || newest?.id === id) return
  if (before?.withdrawn.includes(id) === true) {
    throw refusal(`The table ${id} was withdrawn by a rollback; --force publishes it anyway.`)
  }
  if (newest !== undefined && day < newest.as_of) {
    throw refusal(
      `The table ${id} is dated ${day}, older than the published ${newest.id} of ${newest.as_of}: ` +
        '--rollback-to returns to a published table, --force publishes this one.',
    )
  }
}

const isOwnFormat = ({ format }: Release): boolean => format.major === formatMajor

/** The newest of each format always, others for `keepMs`. */
function stillKept(releases: readonly Release[], options: PublishOptions): readonly Release[] {
  const firsts = new Map(releases.toReversed().map((each) => [each.format.major, each]))
  const kept = new Set(firsts.values())
  for (const each of releases) {
    if (kept.size >= manifestReleasesMax - 1) break
    if (each.published > options.now - options.keepMs) kept.add(each)
  }
  return releases.filter((each) => kept.has(each))
}

function manifestOf(
  before: Manifest | undefined,
  releases: readonly Release[],
  withdrawn: readonly string[],
  options: PublishOptions,
): Manifest {
  return {
    form: publishedForm,
    place: placeNameOf(options),
    // Also if the place was emptied.
    serial: Math.max((before?.serial ?? 0) + 1, options.now),
    releases: [...releases],
    withdrawn: withdrawn.slice(0, manifestWithdrawnMax),
  }
}

const stagesFrom = ({ stages, now }: PublishOptions): Release['stages'] =>
  stages.map(({ percent, afterMs }) => ({ percent, from: now + afterMs }))

const refusal = (message: string): IpriskError => inputError('publish_refused', message)

// Removes old parts that no release names; servers with an earlier manifest still find theirs. A
// run is bounded; the next one continues.

/** Returns the number removed; 0 if an index cannot be read, since its parts may be in use. */
async function prunePlace(
  place: PublishPlace,
  { releases }: Pick<Manifest, 'releases'>,
  { keepMs, now }: { readonly keepMs: number; readonly now: number },
): Promise<number> {
  const named = new Set(releases.flatMap((one) => [partName(one.index.sha256), noticeName(one.id)]))
  for (const release of releases) {
    const index = await readIndex(place, release)
    if (index === undefined) return 0
    for (const { parts } of index.segments)
      for (const [, , stored] of parts) named.add(partName(stored))
  }
  const old = [...(await place.list('parts')), ...(await place.list('notices'))].filter(
    ({ name, writtenMs }) => !named.has(name) && writtenMs < now - keepMs,
  )
  const until = performance.now() + placePruneMsMax
  let removed = 0
  for (const { name } of old.slice(0, placePruneMax)) {
    if (performance.now() > until) break
    await place.remove(name)
    removed += 1
  }
  return removed
}
