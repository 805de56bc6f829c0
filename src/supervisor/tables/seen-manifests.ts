// What a server remembers of a source's manifests, in its state folder: for each key the highest
// serial that it has signed, so that an old manifest is known as one after a restart, too.
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
import { serialAhead } from '../../publish/form/manifest.ts'
import type { TrustedKey } from '../../publish/form/signing-key.ts'

const serial = z.int().min(0)

const noteSchema = z.object({
  /** Of the last manifest; the only one that earlier versions write and read. */
  serial,
  /** By the id of the key. */
  serials: z.record(z.string(), serial).exactOptional(),
})

type Note = z.output<typeof noteSchema>

export interface SeenManifests {
  /** No manifest of a lower serial is taken. What is ahead of the clock by now does not count. */
  readonly serialMin: (now: number) => number
  readonly isKnown: (serial: number, by: TrustedKey) => boolean
  /** Throws what the disk throws. */
  readonly remember: (serial: number, by: TrustedKey) => Promise<void>
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
    serialMin: (now) => {
      const possible = trusted.map(serialOf).filter((each) => serialAhead(each, now) === undefined)
      return Math.max(0, ...possible)
    },
    isKnown: (serial, by) => note?.serials?.[by.id] === serial,
    remember: async (serial, by) => {
      const highest = Math.max(0, ...trusted.map(serialOf))
      if (highest > serial) {
        log.warn({ url, serial: highest }, 'A remembered serial is ahead of the clock: forgotten.')
      }
      const kept = trusted.map((key) => [key.id, Math.min(serialOf(key), serial)] as const)
      const serials = { ...Object.fromEntries(kept), [by.id]: serial }
      mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
      await replaceFile(path, `${JSON.stringify({ url, serial, serials })}\n`)
      note = { serial, serials }
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
