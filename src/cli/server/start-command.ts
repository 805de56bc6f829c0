// `iprisk start`, what `npm start` runs: the first time it fetches the feeds, compiles a table and
// makes a key; after an upgrade that reads no tables of before it compiles one, too; every time it
// serves, and refreshes the table. Its last lines are a request that works. Feeds that the first
// fetch cannot have are fetched while it serves, as soon as it can.

import { existsSync, readFileSync } from 'node:fs'
import type { BuildReport } from '../../../build/build-report.ts'
import { withAudit } from '../../account/keys/audited-keys.ts'
import { createKey } from '../../account/keys/issue-key.ts'
import type { NewKey } from '../../account/keys/key-record.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { changeThresholds } from '../../model/change-thresholds.ts'
import { mapFile } from '../../base/system/memory-map.ts'
import { apiNames } from '../../config/plan.ts'
import type { Settings } from '../../config/settings.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import { readTableView } from '../../table/file/table-view.ts'
import { compilerMissing } from '../compiler/load-compiler.ts'
import { unwrittenTo, withStores } from '../keys/key-session.ts'
import { exitCodes, type Io } from '../terminal/io.ts'
import { buildChildCommand, buildChildEnvironment, runBuildChild } from './build-child.ts'
import { type FirstKeys, firstPlan, showFirstRequest, showKeys } from './first-request.ts'
import { serve } from './serve-command.ts'

/** The first start waits no longer for feeds: what is late comes in the background. */
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
  let isShown = false
  try {
    return await serve(settings, configuration, io, {
      buildArguments: settings.build.offline ? [] : ['--need-feeds'],
      catchUp: catchesUp ? { arguments: catchUpArguments(settings), isBehind } : undefined,
      environment: buildChildEnvironment(settings),
      onRunning(running) {
        isShown = true
        showFirstRequest({ settings, running, keys, catchesUp }, io)
      },
    })
  } finally {
    // It is shown this once, also where the server could not start.
    if (!isShown && keys !== undefined) showKeys(keys, io)
  }
}

/** Why there is nothing to serve, where a build helps; `undefined` where there may be something. */
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
      return `The table at ${path} is of another version of this program.`
    }
  }
  // What else is wrong with it the server says.
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
    ? 'Compiling one from what is here, offline:'
    : `Fetching the feeds, for ${firstFetchSeconds} s at most, and compiling one:`
  io.err(`${why} ${way}`)
  // The 71 MB of places would take most of that time; the first refresh fetches them.
  const how = offline
    ? ['--offline']
    : ['--fetch-seconds', String(firstFetchSeconds), '--keep-data-sets']
  const command = buildChildCommand(settings, configuration, ...how)
  return runBuildChild(command, buildChildEnvironment(settings))
}

/** The table in use was built without feeds, so that another one may judge more otherwise. */
function catchUpArguments({ build: { flipsMaxPercent } }: Settings): readonly string[] {
  return ['--flips-max-percent', String(Math.max(flipsMaxPercent, changeThresholds.firstBuild))]
}

/** The texts of a new key and a test key, where there is no key yet. */
async function firstKeys(settings: Settings, io: Io): Promise<FirstKeys | undefined> {
  if (settings.store.keysFile !== undefined) return undefined
  return withStores(settings, async ({ keyStore: store }) => {
    if ((await store.list()).records.length > 0) return undefined
    const key = { name: 'first key', plan: firstPlan, apis: apiNames }
    const testKey = { ...key, name: 'first test key', test: true } as const
    const { state } = settings
    const act = { state, store, act: 'create', keys: [], onUnwritten: unwrittenTo(io) } as const
    const issue = async (key: NewKey): Promise<string> =>
      (await withAudit(act, (store) => createKey(store, key, Date.now()))).text
    return { key: await issue(key), testKey: await issue(testKey) }
  })
}

// Whether the build of the present table could ask for its feeds, by its report. Where the run
// ended early, or nobody answered, the server catches up. A single feed that stays away is left to
// the daily refresh: for it alone a second whole build is too much.

/** False where there is no report, of a table that came from elsewhere. */
export function lacksFeeds(report: string): boolean {
  try {
    const { fetch } = JSON.parse(readFileSync(report, 'utf8')) as Pick<BuildReport, 'fetch'>
    return fetch.cut_short !== null || (fetch.asked > 0 && fetch.answered === 0)
  } catch {
    return false
  }
}
