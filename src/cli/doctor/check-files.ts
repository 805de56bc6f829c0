// Checks files: table, the feeds of its build, state folder, secrets, certificates, and their dates
// against the clock. Binaries are loaded lazily, so that the doctor can report a missing one
// (check-program.ts).

import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readAdminToken } from '../../admin/admin-caller.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { ageSeconds, type Day, dayOf, formatDay } from '../../base/day.ts'
import { formatTimeSpan } from '../../base/text/number-format.ts'
import { joinFew } from '../../base/text/shortened-list.ts'
import { parseDurationMs } from '../../base/time-text.ts'
import type { Settings } from '../../config/settings.ts'
import { tlsFilesOf, validateTlsFiles } from '../../http/listen/tls-files.ts'
import { freshDaysMax, type KindCoverage, type TableCoverage } from '../../model/coverage.ts'
import { coverageToday } from '../../table/answer/table-coverage.ts'
import { dataSetOf, type Source } from '../../table/file/table-source.ts'
import { readTableView, type TableView } from '../../table/file/table-view.ts'
import { compilerMissing, loadCompiler } from '../compiler/load-compiler.ts'
import type { StatusAnswer } from '../server/ask-admin.ts'
import { advice, awaitedTableFix, type DoctorFinding, problem } from './doctor-finding.ts'

const secondsPerDay = 86_400

const feedsShownMax = 8

/** Exit nodes and proxies change within days. */
const tableDaysMax = 3

/** Synchronized clocks differ by less. */
const skewMsMax = 120_000

/** Leaves time to get a new one. */
const certificateDaysMin = 14

export async function checkTableFile(
  { table: path, serve }: Settings,
  now: number,
  answer: StatusAnswer,
): Promise<readonly DoctorFinding[]> {
  if (!existsSync(path)) {
    const fix = isPulled(serve, answer)
      ? awaitedTableFix
      : 'Build one with "iprisk build", or name another with --table.'
    return [problem('no_table', `There is no table at ${path}.`, fix)]
  }
  // Without koffi nothing maps a file; check-program.ts reports that.
  const maps = await import('../../base/system/memory-map.ts').catch(() => undefined)
  if (maps === undefined) return []
  let table: Pick<TableView, 'asOf' | 'coverage' | 'sources'>
  try {
    const map = maps.mapFile(path)
    try {
      table = readTableView(map.bytes, path)
    } finally {
      map.unmap()
    }
  } catch (error) {
    const version = error instanceof IpriskError && error.code === 'table_version'
    const code = version ? 'table_version' : 'table_unreadable'
    return [problem(code, messageOf(error), 'Rebuild it with "iprisk build", or copy it again.')]
  }
  const { asOf, sources } = table
  const findings: DoctorFinding[] = [...checkCoverage(table, now)]
  const age = ageSeconds(asOf, now)
  if (age > tableDaysMax * secondsPerDay) {
    const text = `The table is as of ${formatDay(asOf)}, ${formatTimeSpan(age)} ago: it misses newer exit nodes and proxies.`
    findings.push(problem('old_table', text, renewalFix(serve, answer)))
  }
  const aheadMs = asOf * secondsPerDay * 1000 - now
  if (aheadMs > secondsPerDay * 1000) {
    const text = `The table is as of ${formatDay(asOf)}, but this machine's clock says ${new Date(now).toISOString()}.`
    findings.push(problem('clock_behind', text, clockFix))
  }
  return [...findings, ...checkDataSets(sources, now)]
}

/** A running server's own settings count more than these. */
function isPulled({ tableUrl }: Settings['serve'], answer: StatusAnswer): boolean {
  return answer.kind === 'status' ? answer.status.source !== null : tableUrl !== undefined
}

function renewalFix(serve: Settings['serve'], answer: StatusAnswer): string {
  if (isPulled(serve, answer)) {
    return 'New tables come from --table-url: "iprisk info" shows the last poll. Check that the publisher is still building.'
  }
  const everyMs =
    answer.kind === 'status' ? answer.status.refresh?.every_ms : parseDurationMs(serve.refreshEvery)
  return (everyMs ?? 0) > 0
    ? 'Refreshing is on: "iprisk info" and the log show its last results; run "iprisk build" to see a complete run.'
    : 'Run "iprisk build" every day, or serve with --refresh-every.'
}

const clockFix = 'Set the clock and keep it synchronized with NTP (chrony, systemd-timesyncd).'

export function checkStateFolder({ state }: Settings, now: number): readonly DoctorFinding[] {
  const place = existsSync(state) ? state : firstFolder(state)
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    if (!statSync(place).isDirectory()) throw new Error('it is not a folder')
  } catch (error) {
    const text = `The state folder ${state} cannot be written: ${messageOf(error)}.`
    const fix = 'Make the serving user its owner (chown), or name another folder with --state.'
    return [problem('state_not_writable', text, fix)]
  }
  if (!existsSync(state)) return []
  const findings: DoctorFinding[] = []
  if ((statSync(state).mode & 0o002) !== 0) {
    const text = `Any user can write to the state folder ${state}, and so create keys.`
    findings.push(problem('state_open', text, `Run chmod o-w ${state}`))
  }
  const late = readdirSync(state).find(
    (name) =>
      (statSync(join(state, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > now + skewMsMax,
  )
  if (late !== undefined) {
    const text = `${join(state, late)} has a modification time in the future: this machine's clock has jumped back.`
    findings.push(problem('clock_jumped', text, `${clockFix} Quotas count by its calendar months.`))
  }
  return findings
}

function firstFolder(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

export function checkSecretFiles({ serve, store }: Settings): readonly DoctorFinding[] {
  const { adminTokenFile, adminTokensFile, tlsKeyFile, logAddressKeyFile } = serve
  const named = [adminTokenFile, adminTokensFile, tlsKeyFile, logAddressKeyFile, store.passwordFile]
  return named.flatMap((path) => {
    const mode = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mode
    if (path === undefined || mode === undefined || (mode & 0o007) === 0) return []
    const text = `Every user of this machine can read the secret in ${path}.`
    return [
      problem(
        'secret_readable',
        text,
        `Run chmod o= ${path}; for mounted secrets, set their mode.`,
      ),
    ]
  })
}

export function checkCertificate({ serve }: Settings, now: number): readonly DoctorFinding[] {
  const tls = tlsFilesOf(serve)
  const findings: DoctorFinding[] = []
  try {
    if (serve.adminTokenFile !== undefined) readAdminToken(serve.adminTokenFile)
    const until = tls === undefined ? Infinity : validateTlsFiles(tls, now)
    const left = (until - now) / 1000
    if (left < certificateDaysMin * secondsPerDay) {
      const text = `The certificate ${tls?.certFile} expires in ${formatTimeSpan(left)}.`
      const fix = 'Replace the file and run "iprisk restart".'
      findings.push(problem('certificate_ends', text, fix))
    }
  } catch (error) {
    const code = error instanceof IpriskError ? error.code : 'tls_unusable'
    findings.push(problem(code, messageOf(error), 'Fix the file named above.'))
  }
  return findings
}

// Without fresh feeds of a kind, its addresses look clean.

const fetchFix =
  'Run "iprisk feeds fetch", then "iprisk build"; the report names the feeds that failed, and why.'

function checkCoverage(
  table: { readonly asOf: Day; readonly coverage: TableCoverage },
  nowMs: number,
): readonly DoctorFinding[] {
  // The clock may lag behind the table.
  const day = Math.max(table.asOf, dayOf(nowMs)) as Day
  const gaps = coverageToday(table, nowMs).coverage.filter(({ state }) => state !== 'full')
  const old = gaps.filter(({ state, newest }) => state === 'missing' && newest !== undefined)
  const missing = gaps.filter((gap) => !old.includes(gap))
  const findings: DoctorFinding[] = []
  if (missing.length > 0) {
    const text = `The table has gaps: ${missing.map(gapText).join('; ')}.`
    findings.push(problem('feeds_missing', text, fetchFix))
  }
  if (old.length > 0) {
    const days = old.map(
      ({ kind, newest }) =>
        `${kind} (${newest === undefined ? '' : formatDay(newest)}, at most ${freshDaysMax[kind]} days)`,
    )
    const text = `On ${formatDay(day)}, all feeds of these kinds were out of date: ${days.join(', ')}.`
    findings.push(problem('feeds_old', text, fetchFix))
  }
  return findings
}

function gapText({ kind, state, newest }: KindCoverage): string {
  if (state === 'missing') return `no ${kind} feed`
  if (newest === undefined) return `only hand-kept data for ${kind}`
  return `the ${kind} feeds hold less than half of their usual entries`
}

/**
 * The alert's limit, too: three monthly editions. At the pace measured in docs/acceptance.md some
 * 0.7 % of the IPv4 addresses have another country by then, and 1.4 % another origin AS.
 */
export const dataSetDaysMax = 90

const forceFix =
  'The build shows what it would change ("kept out"). If the changes are right, accept them with ' +
  '"iprisk build --force".'

const fix =
  'Run "iprisk build" where newer editions can be downloaded, or name files of your ' +
  'own with --networks and --locations.'

export function checkDataSets(sources: readonly Source[], now: number): readonly DoctorFinding[] {
  return sources.flatMap((source) => {
    const name = dataSetOf(source)
    const age = ageSeconds(source.day, now)
    if (name === undefined || age <= dataSetDaysMax * 86_400) return []
    const why = source.quarantined === true ? ' A newer edition is quarantined.' : ''
    const text =
      `The ${name} in the table (${source.id}) date from ${formatDay(source.day)}, ` +
      `${formatTimeSpan(age)} ago.${why}`
    return [advice(`${name}_old`, text, source.quarantined === true ? forceFix : fix)]
  })
}

/** Feeds that cannot be fetched, are stale or have shrunk: "iprisk feeds list" begins with them. */
export async function checkFeeds({ build }: Settings): Promise<readonly DoctorFinding[]> {
  if (compilerMissing() !== undefined) return []
  // None of these may load koffi: a doctor that needs it could not report it missing.
  const { catalogueFolder, failingFeeds, loadWholeCatalogue } = await loadCompiler(async () => ({
    ...(await import('../../../build/catalogue/load-catalogue.ts')),
    ...(await import('../../../build/feed-health.ts')),
  }))
  const failing = await failingFeeds(loadWholeCatalogue(catalogueFolder, build.feedsFolder), build)
  if (failing.length === 0) return []
  const states = [...new Set(failing.map(({ state }) => state))].map((state) => {
    const ids = failing.flatMap((feed) => (feed.state === state ? [feed.id] : []))
    return `${ids.length} ${state} (${joinFew(ids, feedsShownMax)})`
  })
  const text = `Feeds failed in the last build: ${states.join(', ')}.`
  const fix = '"iprisk feeds list" shows them first, with the reason; disable those that are gone.'
  return [advice('feeds_failing', text, fix)]
}
