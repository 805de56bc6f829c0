// Keeps the keys of the configured directories (`agents.directories`) and gives them to the
// workers: first those on disk, then those that a process fetches, at once and every hour. Requests
// trigger no fetch, so visitors cannot choose its target, and directories learn nothing of visits.
//
// Invariants: a failed fetch changes nothing; a fetched directory replaces its cached copy, so that
// a removed key is no longer accepted.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeyDirectory, signingKey } from '../../agents/key-directory.ts'
import { directoryUrl } from '../../agents/web-bot-auth.ts'
import { withJitter } from '../../base/backoff.ts'
import { messageOf } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import type { Log } from '../../base/log.ts'
import { askOnce, startChild } from '../../base/system/child-task.ts'
import type { Settings } from '../../config/settings.ts'
import { type LongTimer, runAfter } from '../../base/system/long-timer.ts'
import { makeOwnFolder, replaceOwnFileSync } from '../../base/system/own-files.ts'

export type FetchedDirectory = KeyDirectory | { readonly url: string; readonly failure: string }

const program = new URL('./fetch-keys-main.js', import.meta.url)

/** All are fetched at once, each within 10 s. */
const fetchMsMax = 20_000
/** The draft's limit for directories that fail. */
const everyMs = { fetched: 3_600_000, failed: 300_000 }

export function startAgentKeys(parts: {
  readonly settings: Pick<Settings, 'agents' | 'state'>
  readonly use: (directories: readonly KeyDirectory[]) => void
  readonly log: Log
  readonly fetchMs?: number
}) {
  const { settings, use, log, fetchMs = fetchMsMax } = parts
  const urls = settings.agents.directories.map(directoryUrl)
  const folder = join(settings.state, 'agents')
  const path = join(folder, 'keys.json')
  const known = new Map(readKept(path, urls))
  const closing = new AbortController()
  let timer: LongTimer | undefined
  let failures = ''
  const take = (fetched: readonly FetchedDirectory[]): void => {
    for (const one of fetched) if ('keys' in one) known.set(one.url, one)
    const failed = fetched.filter((one) => 'failure' in one)
    const now = JSON.stringify(failed)
    if (failed.length > 0 && now !== failures)
      log.warn({ failed }, 'Keys of agents were not fetched; the previous ones stay in use.')
    failures = now
    use([...known.values()])
    try {
      makeOwnFolder(folder)
      replaceOwnFileSync(path, JSON.stringify([...known]))
    } catch (error) {
      log.error({ path }, `Keys of agents cannot be stored: ${messageOf(error)}`)
    }
  }
  const fetch = async (): Promise<void> => {
    const { signal } = closing
    const child = startChild<readonly string[], readonly FetchedDirectory[]>({ program })
    const outcome = await askOnce(child, urls, { msMax: fetchMs, signal })
    if (signal.aborted) return
    const failure = `its process was ${outcome.kind}`
    take(outcome.kind === 'answered' ? outcome.answer : urls.map((url) => ({ url, failure })))
    const ms = failures === '[]' ? everyMs.fetched : everyMs.failed
    timer = runAfter(withJitter(ms, 0.1), () => void fetch())
  }
  if (urls.length > 0) {
    use([...known.values()])
    void fetch()
  }
  return {
    stop: (): void => {
      closing.abort()
      timer?.stop()
    },
  }
}

/** Empty if the file is missing or damaged: keys are fetched again. */
function readKept(path: string, urls: readonly string[]): readonly [string, KeyDirectory][] {
  try {
    const kept = parseJson(readFileSync(path, 'utf8')) as [string, KeyDirectory][]
    const isWhole = ({ url, keys }: KeyDirectory): boolean =>
      urls.includes(url) && keys.every(({ keyid, x }) => signingKey(x)?.keyid === keyid)
    return kept.filter(([url, directory]) => url === directory.url && isWhole(directory))
  } catch {
    return []
  }
}
