// `iprisk publish PLACE`, and `--publish` of a build.

import { resolve } from 'node:path'
import { usageError } from '../../base/coded-error.ts'
import { msPerDay } from '../../base/day.ts'
import { formatCount, formatMegabytes } from '../../base/text/number-format.ts'
import { isPublishPlace, parseObjectUrl, parseStages } from '../../config/values/publish-values.ts'
import type { Settings } from '../../config/settings.ts'
import { readLicences, tableNotice, unstatedSources } from '../../export/source-licences.ts'
import { readSigningKey } from '../../publish/form/signing-key.ts'
import { openFolderPlace } from '../../publish/places/folder-place.ts'
import { openObjectPlace } from '../../publish/places/object-place.ts'
import type { PublishPlace } from '../../publish/places/publish-place.ts'
import {
  noticeName,
  type Published,
  type PublishOptions,
  publishRollback,
  publishTable,
} from '../../publish/publish-table.ts'
import { type Command, type Io, printResult, warn } from '../terminal/io.ts'

/** Publishes `--table`, or withdraws with `--rollback-to`. */
export const publishCommand: Command = async (settings, io, [to = '']) => {
  const { rollbackTo, json, force } = settings.invocation
  const options = publishOptions(settings, io, { to, force })
  const published =
    rollbackTo === undefined
      ? await publishTable(settings.table, options)
      : await publishRollback(rollbackTo, options)
  printResult(io, json, publishedFacts(published, options), () => [
    publishedLine(published, options),
  ])
}

/** Publishes what a build makes. Checks key and place before the build, which takes minutes. */
export function preparePublish(
  settings: Settings,
  io: Io,
): ((table: string) => Promise<void>) | undefined {
  const { to } = settings.publish
  if (to === undefined) return undefined
  // --force on a build does not discard manifests; a rebuilt table does not restart its stages.
  const options = (): PublishOptions => ({
    ...publishOptions(settings, io, { to, force: false }),
    keepStages: true,
  })
  options()
  return async (table) => {
    const now = options()
    io.err(publishedLine(await publishTable(table, now), now))
  }
}

function publishOptions(
  { publish, invocation }: Settings,
  io: Io,
  { to, force }: { readonly to: string; readonly force: boolean },
): PublishOptions {
  const licences = readLicences(invocation.licences)
  return {
    noticeOf(table) {
      const notice = tableNotice(table, licences)
      const unstated = unstatedSources(table.sources).map(({ id }) => id)
      if (unstated.length > 0) warn(io, `no licence is stated for ${unstated.join(', ')}`)
      return notice
    },
    place: openPlace(to),
    placeName: publish.placeName,
    key: readSigningKey(publish.signingKey),
    stages: parseStages(publish.stage) ?? [],
    keepMs: publish.keepDays * msPerDay,
    force,
    now: Date.now(),
  }
}

function openPlace(text: string): PublishPlace {
  if (!isPublishPlace(text)) {
    throw usageError(
      `cannot publish to ${JSON.stringify(text)}: name a folder or s3://bucket/prefix.`,
    )
  }
  return parseObjectUrl(text) === undefined ? openFolderPlace(resolve(text)) : openObjectPlace(text)
}

function publishedFacts(published: Published, { place, key }: PublishOptions): object {
  const { release, manifest, moved, pruned, pruneTrouble } = published
  return {
    place: place.name,
    place_name: manifest.place,
    table: release.id,
    as_of: release.as_of,
    notice: noticeName(release.id),
    serial: manifest.serial,
    bytes: release.bytes,
    stored_bytes: release.stored,
    moved_bytes: moved.bytes,
    moved_parts: moved.parts,
    removed_parts: pruned,
    prune_trouble: pruneTrouble,
    trust: key.trusted.text,
    stages: release.stages.map(({ percent, from }) => ({
      percent,
      from: new Date(from).toISOString(),
    })),
    withdrawn: manifest.withdrawn,
  }
}

function publishedLine(published: Published, { place }: PublishOptions): string {
  const { release, moved, pruned, pruneTrouble } = published
  const { id, as_of: day, stored } = release
  const trouble = pruneTrouble === undefined ? '' : `; old parts were not removed: ${pruneTrouble}`
  const went = pruned === 0 ? trouble : `; ${formatCount(pruned)} old parts removed`
  const stages = release.stages.map(({ percent, from }) => {
    return `${percent} % from ${new Date(from).toISOString()}`
  })
  const who = stages.length === 0 ? '' : `; ${stages.join(', ')}`
  return (
    `Published table ${id} as of ${day} at ${place.name}: ${formatMegabytes(moved.bytes)} MB in ` +
    `${formatCount(moved.parts)} new parts, ${formatMegabytes(stored)} MB in total${went}${who}; ` +
    `source notice: ${noticeName(id)} there`
  )
}
