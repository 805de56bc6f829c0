// A mirror: static files `<feed-id>/<file>` under one URL, and a `feeds.json` with `id` and
// `snapshot_date` of each feed, the only source of days, because file times say when files were
// copied. Without it the day is today.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, isFuture, parseDay } from '../../src/base/day.ts'
import { environmentError, type IpriskError } from '../../src/base/coded-error.ts'
import { parseJson } from '../../src/base/json-object.ts'
import { temporaryName } from '../../src/base/system/atomic-file.ts'
import { httpGet } from './http-get.ts'
import { MIRROR_INDEX_BYTES_MAX } from './fetch-limits.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { publicUrl, mirrorUrl } from './public-url.ts'

/** Empty if the mirror has no feeds.json. */
export async function mirrorDays(
  network: ConnectionPools,
  base: URL,
  { folder, today }: { readonly folder: string; readonly today: Day },
): Promise<ReadonlyMap<string, Day> | IpriskError> {
  const url = mirrorUrl(base, ['feeds.json'])
  const to = join(folder, temporaryName('feeds.json'))
  const bytes = { min: 2, max: MIRROR_INDEX_BYTES_MAX }
  try {
    const answer = await httpGet(network, { url, to, format: 'json', bytes })
    if (answer.kind === 'failed') {
      return answer.status === 404 || answer.status === 410 ? new Map() : answer.error
    }
    const message = `${publicUrl(url)}: it is not an array of feeds, so the days are not known`
    const days = parseMirrorDays(await readFile(to, 'utf8'), today)
    return days ?? environmentError('fetch_mirror', message)
  } finally {
    await rm(to, { force: true })
  }
}

/** `undefined` if it is not an array; unusable or future days are ignored. */
export function parseMirrorDays(text: string, today: Day): ReadonlyMap<string, Day> | undefined {
  const root = parseJson(text)
  if (!Array.isArray(root)) return undefined
  const days = new Map<string, Day>()
  for (const each of root as readonly unknown[]) {
    const { id, snapshot_date: text } = (each ?? {}) as Record<string, unknown>
    const day = typeof text === 'string' ? parseDay(text) : undefined
    if (typeof id !== 'string' || day === undefined || isFuture(day, today)) continue
    days.set(id, day)
  }
  return days
}
