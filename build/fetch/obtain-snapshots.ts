// From the catalogue to snapshots on disk: each feed's files with role `use`, from a mirror,
// publishers or the store. A file that fails keeps its last good copy and day, or is missing.
// Throws only for what makes every feed fail: a bad mirror URL or proxy setting, an unwritable
// store.

import { join } from 'node:path'
import { environmentError, IpriskError } from '../../src/base/coded-error.ts'
import type { Day } from '../../src/base/day.ts'
import { removeTemporaryFiles } from '../../src/base/system/atomic-file.ts'
import { acquireFileLock } from '../../src/base/system/file-lock.ts'
import type { CatalogueFeed, FeedFile } from '../catalogue/feed.ts'
import { type ConnectionPools, openConnectionPools } from './connection-pools.ts'
import { type FetchProblem } from './fetch-error.ts'
import { type FeedFetch, type FileOutcome, newFeedFetch } from './fetch-feed.ts'
import { type FetchLimits, fetchLimits } from './fetch-limits.ts'
import { mirrorDays } from './mirror.ts'
import { openNetworkHealth } from './network-health.ts'
import { mirrorUrl, parseWebUrl } from './public-url.ts'
import { type StoredSnapshot, readStoredSnapshots, recoverSnapshots } from './snapshot-store.ts'

export type FetchMode =
  | { readonly kind: 'offline' }
  | { readonly kind: 'mirror'; readonly url: string }
  | { readonly kind: 'publisher'; readonly always?: boolean }

export interface ObtainedFile extends FileOutcome {
  readonly feed: CatalogueFeed
  /** Role `use`, or an alternate if a feed's only file is unavailable. */
  readonly file: FeedFile
  readonly damaged?: boolean
}

export type FetchProgress =
  | { readonly kind: 'notice'; readonly message: string }
  | {
      readonly kind: 'feed'
      readonly feed: string
      readonly state: ObtainedFile['state']
      readonly problem: string | undefined
      readonly done: number
      readonly total: number
    }

export interface ObtainOptions {
  readonly feeds: readonly CatalogueFeed[]
  readonly mode: FetchMode
  /** `data/snapshots`. Created if missing; not modified by mode `offline`. */
  readonly folder: string
  readonly today: Day
  readonly onProgress?: (progress: FetchProgress) => void
  readonly limits?: Partial<FetchLimits>
  readonly now?: () => number
}

export async function obtainSnapshots(options: ObtainOptions): Promise<ObtainedFile[]> {
  const { feeds, mode, folder } = options
  if (mode.kind === 'offline') return fromStore(options, undefined)
  const base = mode.kind === 'mirror' ? parseWebUrl(mode.url) : undefined
  const lock = acquireFileLock(join(folder, '.lock'))
  if (lock === undefined) {
    const problem = `another run is fetching into ${folder}`
    options.onProgress?.({ kind: 'notice', message: `${problem}; stored copies are used` })
    return fromStore(options, problem)
  }
  try {
    await removeTemporaryFiles(folder)
    for (const feed of feeds) await recoverSnapshots(folder, feed.id)
    return await fetchAll(options, base)
  } finally {
    lock.release()
  }
}

async function fromStore(options: ObtainOptions, problem: string | undefined) {
  const results: ObtainedFile[] = []
  let done = 0
  for (const feed of options.feeds) {
    const obtained = await storedFeed(options, feed, problem)
    results.push(...obtained)
    report(options, { feed, obtained, done: ++done })
  }
  return results
}

/** `problem`: why there is nothing newer. */
async function storedFeed(
  options: ObtainOptions,
  feed: CatalogueFeed,
  problem: string | undefined,
): Promise<ObtainedFile[]> {
  const damage: string[] = []
  const stored = await readStoredSnapshots(options.folder, feed.id, (text) => damage.push(text))
  const problems = [...(problem === undefined ? [] : [problem]), ...damage]
  return usedFiles(feed).map((used) => {
    const file =
      [used, ...alternatesOf(feed)].find(({ path }) => stored.some(hasPath(path))) ?? used
    const copy = stored.find(hasPath(file.path))
    const text = problems.length === 0 ? undefined : problems.join('; ')
    if (copy !== undefined) {
      return { feed, file, state: 'stored', path: copy.path, day: copy.day, problem: text }
    }
    if (damage.length > 0) return { feed, file, state: 'missing', damaged: true, problem: text }
    const none =
      problem === undefined
        ? `no stored copy in ${join(options.folder, feed.id)}; fetch it once while online`
        : 'there is no stored copy'
    return { feed, file, state: 'missing', problem: [...problems, none].join('; ') }
  })
}

const hasPath = (path: string) => (snapshot: StoredSnapshot) => snapshot.file === path

async function fetchAll(options: ObtainOptions, base: URL | undefined): Promise<ObtainedFile[]> {
  const limits: FetchLimits = { ...fetchLimits, ...options.limits }
  const hosts = new Set(
    options.feeds.flatMap((feed) =>
      usedFiles(feed).map((file) => sourceUrl(feed, file, base).host),
    ),
  )
  const health = openNetworkHealth({ hosts: hosts.size, deadHosts: limits.deadHosts })
  const over = setTimeout(() => {
    const message = `fetching has taken ${limits.obtainMs / 1000} s, the limit for one run`
    health.end(environmentError('fetch_over_time', message, { retryable: true }))
  }, limits.obtainMs).unref()
  const { reachMs } = limits
  const reach = setTimeout(() => health.endIfUnreached(reachMs), reachMs).unref()
  const network = openConnectionPools({ limits, health, mirrorHost: base?.hostname })
  try {
    const days = base === undefined ? undefined : await mirrorDays(network, base, options)
    if (days instanceof IpriskError) {
      health.end(days)
      options.onProgress?.({ kind: 'notice', message: days.message })
      return await fromStore(options, days.message)
    }
    const dayOfFeed = (feed: CatalogueFeed): Day => days?.get(feed.id) ?? options.today
    return await runFeeds({ options, network, base, dayOfFeed })
  } finally {
    clearTimeout(over)
    clearTimeout(reach)
    await network.close()
  }
}

interface FetchRun {
  readonly options: ObtainOptions
  readonly network: ConnectionPools
  readonly base: URL | undefined
  readonly dayOfFeed: (feed: CatalogueFeed) => Day
}

async function runFeeds(run: FetchRun): Promise<ObtainedFile[]> {
  const { options, network, base } = run
  const { limits, health } = network
  health.signal.addEventListener('abort', () => {
    const message = (health.signal.reason as IpriskError).message
    options.onProgress?.({ kind: 'notice', message })
  })
  const results = new Map<string, readonly ObtainedFile[]>()
  const tasks = options.feeds.flatMap((feed) => {
    const files = usedFiles(feed)
    const fetching = beginFeed(run, feed)
    return files.map((file) => {
      const url = sourceUrl(feed, file, base)
      return {
        host: url.host,
        run: async () => {
          const ended = await fetching.fetchFile(file, url)
          if (!ended) return
          const obtained = await endFeed(run, feed, fetching)
          results.set(feed.id, obtained)
          report(options, { feed, obtained, done: results.size })
        },
      }
    })
  })
  const perHost = base === undefined ? limits.perHost : limits.concurrency
  await runWithHostConcurrency(tasks, { all: limits.concurrency, perHost })
  return options.feeds.flatMap((feed) => results.get(feed.id) ?? [])
}

function beginFeed(run: FetchRun, feed: CatalogueFeed, files = usedFiles(feed)): FeedFetch {
  const { options, network, base, dayOfFeed } = run
  const { mode } = options
  return newFeedFetch({
    feed,
    files,
    folder: options.folder,
    network,
    from: base === undefined ? 'publisher' : 'mirror',
    day: dayOfFeed(feed),
    always: mode.kind !== 'publisher' || mode.always === true,
    now: options.now ?? Date.now,
  })
}

async function endFeed(run: FetchRun, feed: CatalogueFeed, fetching: FeedFetch) {
  const problem = await fetching.end()
  if (problem === undefined) {
    return usedFiles(feed).map((file) => ({ feed, file, ...fetching.outcome(file) }))
  }
  const { text, trouble } = problem
  const stored = (await storedFeed(run.options, feed, text)).map((one) => ({ ...one, trouble }))
  const isStored = stored.some(({ file, path }) => path !== undefined && file.role === 'use')
  return (isStored ? undefined : await fetchAlternate(run, feed, problem)) ?? stored
}

/** An alternate for a feed's only file that is neither available nor stored. */
async function fetchAlternate(run: FetchRun, feed: CatalogueFeed, { text, trouble }: FetchProblem) {
  for (const file of alternatesOf(feed)) {
    const fetching = beginFeed(run, feed, [file])
    await fetching.fetchFile(file, sourceUrl(feed, file, run.base))
    if ((await fetching.end()) !== undefined) continue
    const problem = `${text}; ${file.path} stands in`
    return [{ feed, file, ...fetching.outcome(file), problem, trouble }]
  }
  return undefined
}

function alternatesOf(feed: CatalogueFeed): readonly FeedFile[] {
  if (usedFiles(feed).length > 1) return []
  return feed.files.filter(({ role }) => role === 'alternate')
}

const sourceUrl = (feed: CatalogueFeed, file: FeedFile, base: URL | undefined): URL =>
  base === undefined ? parseWebUrl(file.url) : mirrorUrl(base, [feed.id, file.path])

const usedFiles = (feed: CatalogueFeed): readonly FeedFile[] =>
  feed.files.filter((file) => file.role === 'use')

export function stateOfFeed(
  files: readonly ObtainedFile[],
): Pick<ObtainedFile, 'state' | 'problem' | 'trouble'> {
  const states = files.map(({ state }) => state)
  const isFresh = states.includes('fresh')
  const state = isFresh ? 'fresh' : (states.find((one) => one !== 'missing') ?? 'missing')
  const { problem, trouble } = files.find((one) => one.problem !== undefined) ?? {}
  return trouble === undefined ? { state, problem } : { state, problem, trouble }
}

function report(
  options: ObtainOptions,
  end: {
    readonly feed: CatalogueFeed
    readonly obtained: readonly ObtainedFile[]
    readonly done: number
  },
): void {
  const { feed, obtained, done } = end
  const { state, problem } = stateOfFeed(obtained)
  const total = options.feeds.length
  options.onProgress?.({ kind: 'feed', feed: feed.id, state, problem, done, total })
}

// Runs tasks with a total limit and one per host. A task of a busy host is passed over, so that
// forty files of one host do not block others.

export interface HostTask {
  readonly host: string
  readonly run: () => Promise<void>
}

/** A task that throws stops the start of further ones and is rethrown. */
export async function runWithHostConcurrency(
  tasks: readonly HostTask[],
  limits: { readonly all: number; readonly perHost: number },
): Promise<void> {
  const waiting = interleaveHosts(tasks)
  const running = new Map<string, number>()
  const active = new Set<Promise<void>>()
  while (waiting.length > 0 || active.size > 0) {
    const index =
      active.size < limits.all
        ? waiting.findIndex(({ host }) => (running.get(host) ?? 0) < limits.perHost)
        : -1
    const task = index === -1 ? undefined : waiting.splice(index, 1)[0]
    if (task === undefined) {
      await Promise.race(active)
      continue
    }
    running.set(task.host, (running.get(task.host) ?? 0) + 1)
    const done = task.run().finally(() => {
      running.set(task.host, (running.get(task.host) ?? 0) - 1)
      active.delete(done)
    })
    active.add(done)
  }
}

/** Interleaves hosts, so that a dead network shows in the first eight tasks. */
function interleaveHosts(tasks: readonly HostTask[]): HostTask[] {
  const seen = new Map<string, number>()
  return tasks
    .map((task) => {
      const turn = seen.get(task.host) ?? 0
      seen.set(task.host, turn + 1)
      return { task, turn }
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ task }) => task)
}
