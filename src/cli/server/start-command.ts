// `iprisk start`, which `npm start` runs: builds a table if there is none that this version reads,
// creates a first key, serves, and prints a working request. Feeds that the first fetch misses are
// fetched while it serves.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { BuildReport } from '../../../build/build-report.ts'
import { withAudit } from '../../account/keys/audited-keys.ts'
import { createKey, defaultApi } from '../../account/keys/issue-key.ts'
import type { NewKey } from '../../account/keys/key-record.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { changeThresholds } from '../../model/change-thresholds.ts'
import { mapFile } from '../../base/system/memory-map.ts'
import { isLoopback } from '../../config/setting-rules.ts'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import { readTableView } from '../../table/file/table-view.ts'
import { compilerMissing } from '../compiler/load-compiler.ts'
import { unwrittenTo, withStores } from '../keys/key-session.ts'
import { exitCodes, type Io } from '../terminal/io.ts'
import { buildChildCommand, buildChildEnvironment, runBuildChild } from './build-child.ts'
import { type FirstKeys, firstPlan, showFirstRequest, showKeys } from './first-request.ts'
import { serve } from './serve-command.ts'

/** Slower feeds follow in the background. */
const firstFetchSeconds = 60

export async function startCommand(
  settings: Settings,
  io: Io,
  _args: readonly string[],
  configuration: ConfigSource,
): Promise<number> {
  const why = whyNoTable(settings.table)
  if (why !== undefined) {
    const code = await buildFirstTable(why, settings, configuration, io)
    if (code !== exitCodes.done) return code
  }
  const isBehind = (): boolean => lacksFeeds(settings.build.report)
  const catchesUp = !settings.build.offline && compilerMissing() === undefined && isBehind()
  const keys = await firstKeys(settings, io)
  const linkSecret = newLinkSecret(settings, io)
  let isShown = false
  try {
    return await serve(settings, configuration, io, {
      buildArguments: settings.build.offline ? [] : ['--need-feeds'],
      catchUp: catchesUp ? { arguments: catchUpArguments(settings), isBehind } : undefined,
      environment: buildChildEnvironment(settings),
      linkSecret,
      onRunning(running) {
        isShown = true
        showFirstRequest({ settings, running, keys, catchesUp, linkSecret }, io)
      },
    })
  } finally {
    // They are shown only once, even if the server could not start.
    if (!isShown && keys !== undefined) showKeys(keys, io)
  }
}

/** For a person at a terminal of the machine that serves, and no log. */
export function newLinkSecret({ serve }: Pick<Settings, 'serve'>, io: Pick<Io, 'outIsTerminal'>) {
  const { console, adminHost, adminSocket } = serve
  const isHere = console === 'on' && adminSocket === undefined && isLoopback(adminHost)
  return isHere && io.outIsTerminal ? randomBytes(16).toString('base64url') : undefined
}

/** Why a build is needed; `undefined` if not. */
function whyNoTable(path: string): string | undefined {
  if (!existsSync(path)) return `There is no table yet at ${path}.`
  if (compilerMissing() !== undefined) return undefined
  try {
    const map = mapFile(path)
    try {
      readTableView(map.bytes, path)
    } finally {
      map.unmap()
    }
  } catch (error) {
    if (error instanceof IpriskError && error.code === 'table_version') {
      return `The table at ${path} was built by another version of iprisk.`
    }
  }
  return undefined
}

function buildFirstTable(
  why: string,
  settings: Settings,
  configuration: ConfigSource,
  io: Io,
): Promise<number> {
  const { offline } = settings.build
  const way = offline
    ? 'Compiling one offline from stored feeds:'
    : `Fetching the feeds (at most ${firstFetchSeconds} s) and compiling one:`
  io.err(`${why} ${way}`)
  // The 71 MB of locations would take most of the time; the first refresh fetches them.
  const how = offline
    ? ['--offline']
    : ['--fetch-seconds', String(firstFetchSeconds), '--keep-data-sets']
  const command = buildChildCommand(settings, configuration, ...how)
  return runBuildChild(command, buildChildEnvironment(settings))
}

/** A table built without feeds may differ more from the next one. */
function catchUpArguments({ build: { flipsMaxPercent } }: Settings): readonly string[] {
  return ['--flips-max-percent', String(Math.max(flipsMaxPercent, changeThresholds.firstBuild))]
}

async function firstKeys(settings: Settings, io: Io): Promise<FirstKeys | undefined> {
  if (settings.store.keysFile !== undefined) return undefined
  return withStores(settings, async ({ keyStore: store }) => {
    if ((await store.list()).records.length > 0) return undefined
    const key = { name: 'first key', plan: firstPlan, apis: [defaultApi] }
    const testKey = { ...key, name: 'first test key', test: true } as const
    const { state } = settings
    const act = { state, store, act: 'create', keys: [], onUnwritten: unwrittenTo(io) } as const
    const issue = async (key: NewKey): Promise<string> =>
      (await withAudit(act, (store) => createKey(store, key, Date.now()))).text
    return { key: await issue(key), testKey: await issue(testKey) }
  })
}

/** Whether the last build's fetch was cut short or got no answer, so that the server must catch up.
 * A single missing feed waits for the daily refresh: it is not worth a whole build. */
export function lacksFeeds(report: string): boolean {
  try {
    const { fetch } = JSON.parse(readFileSync(report, 'utf8')) as Pick<BuildReport, 'fetch'>
    return fetch.cut_short !== null || (fetch.asked > 0 && fetch.answered === 0)
  } catch {
    return false
  }
}
