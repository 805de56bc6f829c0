// One feed's set being fetched: its files come one by one under temporary names, in any order; at
// the end the set is put in place whole, or nothing of it is.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import type { CatalogueFeed, FeedFile } from '../catalogue/feed.ts'
import { temporaryName } from '../../src/base/system/atomic-file.ts'
import { toFetchFailure } from './fetch-error.ts'
import type { GetAnswer, Validators } from './http-get.ts'
import { httpGet } from './http-get.ts'
import { recheckMs } from './fetch-limits.ts'
import type { ConnectionPools } from './connection-pools.ts'
import type { SnapshotRecord } from './snapshot-record.ts'
import type { StoredSnapshot } from './snapshot-store.ts'
import { commitSnapshotSet, readStoredSnapshots } from './snapshot-store.ts'
import { publicUrl } from './public-url.ts'

export interface FileOutcome {
  /** `recent`: stored a short while ago, so no request was made. */
  readonly state: 'fresh' | 'unchanged' | 'recent'
  readonly path: string
  readonly day: Day
}

export interface FeedFetch {
  /** Fetches one file, unless another of the set has failed. True when it was the set's last. */
  fetchFile(file: FeedFile, url: URL): Promise<boolean>
  /** Puts the set in place; gives the problem instead, where a file has one. */
  end(): Promise<string | undefined>
  /** Of a set that was put in place. */
  outcome(file: FeedFile): FileOutcome
}

export interface FeedFetchOptions {
  readonly feed: CatalogueFeed
  readonly files: readonly FeedFile[]
  readonly folder: string
  readonly network: ConnectionPools
  readonly from: 'mirror' | 'publisher'
  readonly day: Day
  /** Ask even where the stored copy is from a short while ago. */
  readonly always: boolean
  readonly now: () => number
}

interface Part {
  readonly record: SnapshotRecord
  readonly state: FileOutcome['state']
  readonly temporary?: string
}

export function newFeedFetch(options: FeedFetchOptions): FeedFetch {
  const { feed, files, folder } = options
  const home = join(folder, feed.id)
  const parts = new Map<string, Part>()
  let problem: string | undefined
  let stored: Promise<StoredSnapshot[]> | undefined
  let pending = files.length
  const part = async (file: FeedFile, url: URL): Promise<void> => {
    try {
      // A copy that is damaged is as if absent, and what is fetched now mends it.
      stored ??= mkdir(home, { recursive: true }).then(async () =>
        readStoredSnapshots(folder, feed.id),
      )
      const copy = (await stored).find((each) => each.file === file.path)
      const got = await fetchPart({ options, home, file, url, copy })
      if (typeof got === 'string') problem ??= got
      else parts.set(file.path, got)
    } catch (thrown) {
      problem ??= toFetchFailure(thrown, publicUrl(url)).error.message
    }
  }
  const discard = async (): Promise<void> => {
    for (const { temporary } of parts.values()) {
      if (temporary !== undefined) await rm(join(home, temporary), { force: true })
    }
  }
  return {
    async fetchFile(file, url) {
      if (problem === undefined) await part(file, url)
      return --pending === 0
    },
    async end() {
      if (problem === undefined) {
        try {
          await commitSnapshotSet(folder, feed.id, setOf(parts))
        } catch (thrown) {
          problem = toFetchFailure(thrown, home).error.message
        }
      }
      if (problem !== undefined) await discard()
      return problem
    },
    outcome(file) {
      const { state, record } = parts.get(file.path) as Part
      return { state, path: join(home, file.path), day: record.day }
    },
  }
}

function setOf(parts: ReadonlyMap<string, Part>): Parameters<typeof commitSnapshotSet>[2] {
  const files = new Map<string, SnapshotRecord>()
  const temporary = new Map<string, string>()
  for (const [name, part] of parts) {
    files.set(name, part.record)
    if (part.temporary !== undefined) temporary.set(name, part.temporary)
  }
  return { files, temporary }
}

/** One file's part of the set, or the problem. */
async function fetchPart(request: {
  readonly options: FeedFetchOptions
  readonly home: string
  readonly file: FeedFile
  readonly url: URL
  readonly copy: StoredSnapshot | undefined
}): Promise<Part | string> {
  const { options, home, file, url, copy } = request
  const address = publicUrl(url)
  // What another address said of its bytes means nothing here; the bounds may have changed, too.
  const { min, max } = file.bytes
  const fits = copy !== undefined && copy.bytes >= min && copy.bytes <= max
  const known = fits && copy.url === address ? copy : undefined
  if (known !== undefined && isRecent(options, known)) {
    return { record: recordOf(known), state: 'recent' }
  }
  const temporary = temporaryName(file.path)
  const to = join(home, temporary)
  const answer: GetAnswer = await httpGet(options.network, {
    url,
    to,
    format: file.format,
    bytes: file.bytes,
    validators: known && validatorsOf(options, known),
  })
  if (answer.kind === 'failed') return answer.error.message
  const news = {
    day: options.day,
    from: options.from,
    url: address,
    fetchedAt: new Date(options.now()).toISOString(),
  }
  if (answer.kind === 'unchanged') {
    const content = { sha256: (known as StoredSnapshot).sha256, bytes: known?.bytes ?? 0 }
    return { record: { ...content, ...news, ...answer.validators }, state: 'unchanged' }
  }
  const { sha256, bytes } = answer
  const record = { sha256, bytes, ...news, ...answer.validators }
  if (copy?.sha256 !== sha256) return { record, state: 'fresh', temporary }
  await rm(to, { force: true })
  return { record, state: 'unchanged' }
}

/** Asked of the publisher on the same day and a short while ago. */
function isRecent(options: FeedFetchOptions, copy: StoredSnapshot): boolean {
  if (options.always || copy.from !== 'publisher' || copy.day !== options.day) return false
  const age = options.now() - Date.parse(copy.fetchedAt)
  return age >= 0 && age < recheckMs(options.feed.cadence)
}

/**
 * A mirror that went to another day by copying files with their times can have an older time beside
 * other bytes; there only an ETag is asked by.
 */
function validatorsOf(options: FeedFetchOptions, copy: StoredSnapshot): Validators | undefined {
  const { etag } = copy
  const isTimely = options.from === 'publisher' || copy.day === options.day
  const lastModified = isTimely ? copy.lastModified : undefined
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified }
}

/** The record alone, of what a read of the store gave. */
function recordOf(copy: StoredSnapshot): SnapshotRecord {
  const { feedId: _feedId, file: _file, path: _path, ...record } = copy
  return record
}
