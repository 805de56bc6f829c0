// What a server remembers of a source's manifests: the highest serial signed by each key, so that
// old manifests are refused after a restart too, and the last place. Serials count only while their
// key is trusted: a thief's highest serial does not block a publisher with a new key.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/coded-error.ts'
import { isJsonObject, isWhole, parseJson } from '../../base/json-object.ts'
import type { Log } from '../../base/log.ts'
import { replaceOwnFile } from '../../base/system/own-files.ts'
import { type Manifest, serialAhead } from '../../publish/form/manifest.ts'
import type { TrustedKey } from '../../publish/form/signing-key.ts'

interface Note {
  /** Keyed by key id. */
  readonly serials: Readonly<Record<string, number>>
  readonly place?: string
}

type Seen = Pick<Manifest, 'serial' | 'place'>

export type SeenManifests = ReturnType<typeof openSeenManifests>

export function openSeenManifests(of: {
  readonly stateFolder: string
  readonly url: string
  readonly trusted: readonly TrustedKey[]
  readonly log: Log
}) {
  const { stateFolder, url, trusted, log } = of
  const name = `source-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.json`
  const path = join(stateFolder, name)
  let note = readNote(path, log)
  const serialOf = ({ id }: TrustedKey): number => note?.serials[id] ?? 0
  return {
    /**
     * Lower serials of that place are refused. Serials ahead of the clock, or of another place, do
     * not count.
     */
    serialMin: (now: number, place = note?.place): number => {
      if (note?.place !== undefined && place !== note.place) return 0
      const possible = trusted.map(serialOf).filter((each) => serialAhead(each, now) === undefined)
      return Math.max(0, ...possible)
    },
    place: () => note?.place,
    isKnown: ({ serial, place }: Seen, by: TrustedKey) =>
      note?.serials[by.id] === serial && note.place === place,
    remember: async ({ serial, place = note?.place }: Seen, by: TrustedKey): Promise<void> => {
      const highest = Math.max(0, ...trusted.map(serialOf))
      if (highest > serial && place === (note?.place ?? place)) {
        log.warn({ url, serial: highest }, 'Ignoring a stored serial that is ahead of the clock.')
      }
      if (place !== note?.place) {
        log.info({ url, place }, 'The source has named its place; other places are refused.')
      }
      const kept = trusted.map((key) => [key.id, Math.min(serialOf(key), serial)] as const)
      const serials = { ...Object.fromEntries(kept), [by.id]: serial }
      mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
      const seen = { serials, ...(place === undefined ? {} : { place }) }
      await replaceOwnFile(path, `${JSON.stringify({ url, ...seen })}\n`)
      note = seen
    },
  }
}

function readNote(path: string, log: Log): Note | undefined {
  try {
    const note = parseJson(readFileSync(path, 'utf8'))
    if (isNote(note)) return note
    throw new Error('it has no serials')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const why = `${path} cannot be read: ${messageOf(error)}`
    log.error({}, `${why}. Replayed manifests cannot be detected.`)
    return undefined
  }
}

function isNote(value: unknown): value is Note {
  if (!isJsonObject(value) || !isJsonObject(value['serials'])) return false
  const { serials, place = '' } = value
  return typeof place === 'string' && Object.values(serials).every((serial) => isWhole(serial))
}
