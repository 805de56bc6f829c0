// What a server remembers of a source's manifests, in its state folder: for each key the highest
// serial that it has signed, so that an old manifest is known as one after a restart, too; and the
// place that the last one named.
//
// Serials belong to keys: what a key signed counts while that key is trusted, and no longer. A
// thief who signed the highest serial that is possible stops no publisher that has a new key.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import type { Log } from '../../base/log.ts'
import { replaceFile } from '../../base/system/atomic-file.ts'
import { refuseLink } from '../../base/system/own-files.ts'
import { type Manifest, serialAhead } from '../../publish/form/manifest.ts'
import type { TrustedKey } from '../../publish/form/signing-key.ts'

const serial = z.int().min(0)

const noteSchema = z.object({
  /** Of the last manifest; the only one that earlier versions write and read. */
  serial,
  /** By the id of the key. */
  serials: z.record(z.string(), serial).exactOptional(),
  place: z.string().exactOptional(),
})

type Note = z.output<typeof noteSchema>

type Seen = Pick<Manifest, 'serial' | 'place'>

export interface SeenManifests {
  /**
   * No manifest of that place and of a lower serial is taken. What is ahead of the clock does not
   * count, nor what was seen of another place.
   */
  readonly serialMin: (now: number, place: string | undefined) => number
  /** The place that was named last. */
  readonly place: () => string | undefined
  readonly isKnown: (manifest: Seen, by: TrustedKey) => boolean
  /** Throws what the disk throws. */
  readonly remember: (manifest: Seen, by: TrustedKey) => Promise<void>
}

export function openSeenManifests(of: {
  readonly stateFolder: string
  readonly url: string
  readonly trusted: readonly TrustedKey[]
  readonly log: Log
}): SeenManifests {
  const { stateFolder, url, trusted, log } = of
  const name = `source-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.json`
  const path = join(stateFolder, name)
  let note = readNote(path, log)
  /** A note without keys is of an earlier version, and counts for each of them. */
  const serialOf = ({ id }: TrustedKey): number =>
    note === undefined ? 0 : note.serials === undefined ? note.serial : (note.serials[id] ?? 0)
  return {
    serialMin: (now, place = note?.place) => {
      if (note?.place !== undefined && place !== note.place) return 0
      const possible = trusted.map(serialOf).filter((each) => serialAhead(each, now) === undefined)
      return Math.max(0, ...possible)
    },
    place: () => note?.place,
    isKnown: ({ serial, place }, by) => note?.serials?.[by.id] === serial && note.place === place,
    remember: async ({ serial, place = note?.place }, by) => {
      const highest = Math.max(0, ...trusted.map(serialOf))
      if (highest > serial && place === (note?.place ?? place)) {
        log.warn({ url, serial: highest }, 'A remembered serial is ahead of the clock: forgotten.')
      }
      if (place !== note?.place) {
        log.info({ url, place }, 'The source has named its place; manifests of others are refused.')
      }
      const kept = trusted.map((key) => [key.id, Math.min(serialOf(key), serial)] as const)
      const serials = { ...Object.fromEntries(kept), [by.id]: serial }
      mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
      const seen = { serial, serials, ...(place === undefined ? {} : { place }) }
      refuseLink(path)
      await replaceFile(path, `${JSON.stringify({ url, ...seen })}\n`, 0o600)
      note = seen
    },
  }
}

function readNote(path: string, log: Log): Note | undefined {
  try {
    return noteSchema.parse(parseJson(readFileSync(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const why = error instanceof z.ZodError ? 'it has no serial' : messageOf(error)
    log.error({}, `${path} cannot be read: ${why}. An old manifest would not be known as one.`)
    return undefined
  }
}
