// Keeps the keys of the directories that count (`agents.directories`) and gives them to the workers:
// those on disk at once, those that a process fetches then and every hour. No request makes it
// fetch, so visitors do not choose where it connects, and no directory learns of a visit.
//
// Invariants: a fetch that fails changes nothing; a directory that was fetched replaces what was
// kept of it, so that a key that is gone no longer counts; whatever fails is logged once a reason.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyDirectory } from '../../agents/key-directory.ts'
import { directoryUrl } from '../../agents/web-bot-auth.ts'
import { withJitter } from '../../base/backoff.ts'
import { messageOf } from '../../base/coded-error.ts'
import { parseJson } from '../../base/json-object.ts'
import type { Log } from '../../base/log.ts'
import { askOnce, startChild } from '../../base/system/child-task.ts'
import { type LongTimer, runAfter } from '../../base/system/long-timer.ts'
import { makeOwnFolder, replaceOwnFileSync } from '../../base/system/own-files.ts'

export interface FetchKeys {
  readonly urls: readonly string[]
}

export type FetchedDirectory = KeyDirectory | { readonly url: string; readonly failure: string }

const program = new URL('./fetch-keys-main.js', import.meta.url)

/** All are fetched at once, each within 10 s. */
const fetchMsMax = 20_000
/** After a failure: the draft's bound for what is known to fail. */
const everyMs = { fetched: 3_600_000, failed: 300_000 }
const jitter = 0.1

export function startAgentKeys(parts: {
  readonly directories: readonly string[]
  readonly stateFolder: string
  readonly use: (directories: readonly KeyDirectory[]) => void
  readonly log: Log
}) {
  const { use, log } = parts
  const urls = parts.directories.map(directoryUrl)
  const folder = join(parts.stateFolder, 'agents')
  const path = join(folder, 'keys.json')
  const known = readKept(path, urls)
  const failures = new Map<string, string>()
  const closing = new AbortController()
  let timer: LongTimer | undefined
  const report = (url: string, failure: string): void => {
    if (failures.get(url) !== failure)
      log.warn({ url }, `Keys of agents were not fetched, those before stay: ${failure}`)
    failures.set(url, failure)
  }
  const take = (fetched: readonly FetchedDirectory[]): void => {
    const isNew = fetched.map((one) => {
      if ('failure' in one) {
        report(one.url, one.failure)
        return false
      }
      failures.delete(one.url)
      const isChanged = JSON.stringify(known.get(one.url)) !== JSON.stringify(one)
      known.set(one.url, one)
      return isChanged
    })
    if (!isNew.includes(true)) return
    use([...known.values()])
    try {
      makeOwnFolder(folder)
      replaceOwnFileSync(path, JSON.stringify([...known.values()]))
    } catch (error) {
      log.error({ path }, `Keys of agents cannot be kept: ${messageOf(error)}`)
    }
  }
  const fetch = async (): Promise<void> => {
    const child = startChild<FetchKeys, readonly FetchedDirectory[]>({ program })
    const { signal } = closing
    const outcome = await askOnce(child, { urls }, { msMax: fetchMsMax, signal })
    if (signal.aborted) return
    if (outcome.kind === 'answered') take(outcome.answer)
    else for (const url of urls) report(url, `its process was ${outcome.kind}`)
    const ms = failures.size > 0 ? everyMs.failed : everyMs.fetched
    timer = runAfter(withJitter(ms, jitter), () => void fetch())
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

/** None where the file is missing or damaged: they are fetched again. */
function readKept(path: string, urls: readonly string[]): Map<string, KeyDirectory> {
  const kept = new Map<string, KeyDirectory>()
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return kept
  }
  const directories = parseJson(text)
  for (const { url, keys } of Array.isArray(directories) ? (directories as KeyDirectory[]) : []) {
    if (urls.includes(url)) kept.set(url, { url, keys })
  }
  return kept
}
