// Fetches one feed's files under temporary names, then puts the whole set in place. A file that
// fails, or has no entry for the feed's parser, keeps its stored copy or is left out.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { messageOf, environmentError } from '../../src/base/coded-error.ts'
import { type CatalogueFeed, type FeedFile, isDataSetFormat } from '../catalogue/feed.ts'
import { parseFile } from '../parse/parse-file.ts'
import { temporaryName } from '../../src/base/system/atomic-file.ts'
import {
  type FetchProblem,
  type FetchTrouble,
  fetchProblem,
  toFetchFailure,
} from './fetch-error.ts'
import { httpGet, type Validators } from './http-get.ts'
import { recheckMs } from './fetch-limits.ts'
import type { ConnectionPools } from './connection-pools.ts'
import type { SnapshotRecord, SnapshotSet } from './snapshot-record.ts'
import type { StoredSnapshot } from './snapshot-store.ts'
import { commitSnapshotSet, readStoredSnapshots } from './snapshot-store.ts'
import { publicUrl } from './public-url.ts'

export interface FileOutcome {
  /**
   * `unchanged`: the origin still has the stored bytes; `recent`: stored a short while ago, so not
   * requested; `stored`: the last good copy, by choice or because of `problem`.
   */
  readonly state: 'fresh' | 'unchanged' | 'recent' | 'stored' | 'missing'
  /** Both are absent if the file is missing, else both are present. */
  readonly path?: string
  readonly day?: Day
  readonly problem?: string | undefined
  readonly trouble?: FetchTrouble
}

export type FeedFetch = ReturnType<typeof newFeedFetch>

interface FeedFetchOptions {
  readonly feed: CatalogueFeed
  readonly files: readonly FeedFile[]
  readonly folder: string
  readonly network: ConnectionPools
  readonly from: 'mirror' | 'publisher'
  readonly day: Day
  readonly always: boolean
  readonly now: () => number
}

interface Part {
  readonly record: SnapshotRecord
  readonly state: Exclude<FileOutcome['state'], 'missing'>
}

export function newFeedFetch(options: FeedFetchOptions) {
  const { feed, files, folder, from } = options
  const home = join(folder, feed.id)
  const parts = new Map<string, Part>()
  const problems = new Map<string, FetchProblem>()
  let stored: Promise<StoredSnapshot[]> | undefined
  let pending = files.length
  const part = async (file: FeedFile, url: URL): Promise<void> => {
    try {
      // A damaged copy counts as absent and is replaced.
      stored ??= mkdir(home, { recursive: true }).then(async () =>
        readStoredSnapshots(folder, feed.id),
      )
      const copy = (await stored).find((each) => each.file === file.path)
      parts.set(file.path, await fetchPart({ options, home, file, url, copy }))
    } catch (thrown) {
      problems.set(file.path, fetchProblem(toFetchFailure(thrown, publicUrl(url)).error, from))
    }
  }
  const keepStored = async (): Promise<void> => {
    for (const copy of (await stored) ?? []) {
      if (problems.has(copy.file)) parts.set(copy.file, { record: recordOf(copy), state: 'stored' })
    }
  }
  const discard = async (): Promise<void> => {
    for (const { record } of parts.values()) {
      const { temporary } = record
      if (temporary !== undefined) await rm(join(home, temporary), { force: true })
    }
  }
  return {
    async fetchFile(file: FeedFile, url: URL): Promise<boolean> {
      await part(file, url)
      return --pending === 0
    },
    /** Puts the set in place; returns the problem instead if every file failed. */
    async end(): Promise<FetchProblem | undefined> {
      if (parts.size === 0) return problems.values().next().value
      try {
        await keepStored()
        const set = [...parts].map(([name, { record }]) => [name, record])
        await commitSnapshotSet(folder, feed.id, Object.fromEntries(set) as SnapshotSet)
        return undefined
      } catch (thrown) {
        await discard()
        return fetchProblem(toFetchFailure(thrown, home).error, from)
      }
    },
    outcome(file: FeedFile): FileOutcome {
      const { text, trouble } = problems.get(file.path) ?? {}
      const failed = trouble === undefined ? {} : { problem: text, trouble }
      const got = parts.get(file.path)
      if (got === undefined) {
        return { state: 'missing', ...failed, problem: `${text}; the feed's other files are used` }
      }
      const { state, record } = got
      return { state, path: join(home, file.path), day: record.day, ...failed }
    },
  }
}

async function fetchPart(request: {
  readonly options: FeedFetchOptions
  readonly home: string
  readonly file: FeedFile
  readonly url: URL
  readonly copy: StoredSnapshot | undefined
}): Promise<Part> {
  const { options, home, file, url, copy } = request
  const address = publicUrl(url)
  // Validators of another URL mean nothing here; the limits may have changed, too.
  const { min, max } = file.bytes
  const fits = copy !== undefined && copy.bytes >= min && copy.bytes <= max
  const known = fits && copy.url === address ? copy : undefined
  if (known !== undefined && isRecent(options, known)) {
    return { record: recordOf(known), state: 'recent' }
  }
  const temporary = temporaryName(file.path)
  const to = join(home, temporary)
  const answer = await httpGet(options.network, {
    url,
    to,
    format: file.format,
    bytes: file.bytes,
    validators: known && validatorsOf(options, known),
  })
  if (answer.kind === 'failed') throw answer.error
  const news = {
    day: options.day,
    from: options.from,
    url: address,
    fetchedAt: new Date(options.now()).toISOString(),
  }
  const since = copy?.since ?? copy?.day
  if (answer.kind === 'unchanged') {
    const { sha256, bytes } = known as StoredSnapshot
    const record = { sha256, bytes, ...news, since, ...answer.validators }
    return { record, state: 'unchanged' }
  }
  const { sha256, bytes } = answer
  const isNews = copy?.sha256 !== sha256
  const began = isNews ? options.day : since
  const record = { sha256, bytes, ...news, since: began, ...answer.validators }
  const why = isNews ? await whyWithoutEntries(to, file) : undefined
  if (isNews && why === undefined) return { record: { ...record, temporary }, state: 'fresh' }
  await rm(to, { force: true })
  if (why === undefined) return { record, state: 'unchanged' }
  const message = `${address}: ${why}; the publisher has moved it or changed its form`
  throw environmentError('fetch_no_entries', message)
}

/** Why the parser finds no entry in a file; reads up to the first entry. */
async function whyWithoutEntries(path: string, file: FeedFile): Promise<string | undefined> {
  const { format, options, bytes } = file
  if (isDataSetFormat(format)) return undefined
  const found = new Error('an entry')
  const entry = (): never => {
    throw found
  }
  const sink = { entry, drop: () => undefined, stated: () => undefined }
  try {
    await parseFile({ path, format, options, bytesMax: bytes.max }, sink)
    return 'it has no entries'
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.cause : undefined
    return cause === found ? undefined : messageOf(cause ?? thrown)
  }
}

/** Requested from the publisher on the same day and a short while ago. */
function isRecent(options: FeedFetchOptions, copy: StoredSnapshot): boolean {
  if (options.always || copy.from !== 'publisher' || copy.day !== options.day) return false
  const age = options.now() - Date.parse(copy.fetchedAt)
  return age >= 0 && age < recheckMs(options.feed.cadence)
}

/**
 * A mirror that switched to another day by copying files with their times can have an older time
 * with different bytes, so only the ETag is used there.
 */
function validatorsOf(options: FeedFetchOptions, copy: StoredSnapshot): Validators | undefined {
  const { etag } = copy
  const isTimely = options.from === 'publisher' || copy.day === options.day
  const lastModified = isTimely ? copy.lastModified : undefined
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified }
}

function recordOf(copy: StoredSnapshot): SnapshotRecord {
  const { feedId: _feedId, file: _file, path: _path, ...record } = copy
  return record
}
