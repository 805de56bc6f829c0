// What lies on the disk: the table, the state folder, files of secrets, certificates, and whether
// their days agree with the clock. Binaries are loaded only where they are used, or a missing one
// would end the command that is to name it (check-program.ts).

import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ageSeconds, formatDay } from '../../base/day.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { formatTimeSpan } from '../../base/text/number-format.ts'
import type { Settings } from '../../config/settings.ts'
import { validateTlsFiles, tlsFilesOf } from '../../http/listen/tls-files.ts'
import { readAdminToken } from '../../admin/admin-token.ts'
import { type TableView, readTableView } from '../../table/file/table-view.ts'
import { checkCoverage } from './check-coverage.ts'
import { checkDataSets } from './check-data-sets.ts'
import { type DoctorFinding, problem } from './doctor-finding.ts'

const secondsPerDay = 86_400

/** Exits and proxies move within days. */
const tableDaysMax = 3

/** Clocks of machines that agree differ by less. */
const skewMsMax = 120_000

/** Time to get a new one. */
const certificateDaysMin = 14

export async function checkTableFile(
  { table: path }: Settings,
  now: number,
): Promise<readonly DoctorFinding[]> {
  const build = 'Build one with "iprisk build", or name another with --table.'
  if (!existsSync(path)) return [problem('no_table', `There is no table at ${path}.`, build)]
  // Nothing maps a file without koffi, and that finding is made.
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
    return [
      problem(code, messageOf(error), 'Build it again with "iprisk build", or copy it again.'),
    ]
  }
  const { asOf, sources } = table
  const findings: DoctorFinding[] = [...checkCoverage(table, now)]
  const age = ageSeconds(asOf, now)
  if (age > tableDaysMax * secondsPerDay) {
    const text = `The table is as of ${formatDay(asOf)}, ${formatTimeSpan(age)} ago: newer exits and proxies are missing.`
    const fix = 'Run "iprisk build" every day, or serve with --refresh-every.'
    findings.push(problem('old_table', text, fix))
  }
  const aheadMs = asOf * secondsPerDay * 1000 - now
  if (aheadMs > secondsPerDay * 1000) {
    const text = `The table is as of ${formatDay(asOf)}, and this clock says ${new Date(now).toISOString()}.`
    findings.push(problem('clock_behind', text, clockFix))
  }
  return [...findings, ...checkDataSets(sources, now)]
}

const clockFix = 'Set the clock and keep it by NTP (chrony, systemd-timesyncd).'

export function checkStateFolder({ state }: Settings, now: number): readonly DoctorFinding[] {
  const place = existsSync(state) ? state : firstFolder(state)
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    if (!statSync(place).isDirectory()) throw new Error('it is no folder')
  } catch (error) {
    const text = `The state folder ${state} cannot be written: ${messageOf(error)}.`
    const fix = 'Give it to the user that serves (chown), or name another with --state.'
    return [problem('state_not_writable', text, fix)]
  }
  if (!existsSync(state)) return []
  const findings: DoctorFinding[] = []
  if ((statSync(state).mode & 0o002) !== 0) {
    const text = `Anybody may write to the state folder ${state}, and so make keys.`
    findings.push(problem('state_open', text, `chmod o-w ${state}`))
  }
  const late = readdirSync(state).find(
    (name) =>
      (statSync(join(state, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > now + skewMsMax,
  )
  if (late !== undefined) {
    const text = `${join(state, late)} was written in the future: this clock has jumped back.`
    findings.push(
      problem('clock_jumped', text, `${clockFix} Quotas are counted by calendar months of it.`),
    )
  }
  return findings
}

function firstFolder(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

/** Files of secrets that more than their owner may read. */
export function checkSecretFiles({ serve, store }: Settings): readonly DoctorFinding[] {
  const { adminTokenFile, adminTokensFile, tlsKeyFile, logAddressKeyFile } = serve
  const named = [adminTokenFile, adminTokensFile, tlsKeyFile, logAddressKeyFile, store.passwordFile]
  return named.flatMap((path) => {
    const mode = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mode
    if (path === undefined || mode === undefined || (mode & 0o007) === 0) return []
    const text = `Every user of this machine may read the secret in ${path}.`
    return [
      problem('secret_readable', text, `chmod o= ${path}; for mounted secrets set their mode.`),
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
      const text = `The certificate ${tls?.certFile} ends in ${formatTimeSpan(left)}.`
      const fix = 'Put a new one in its place and run "iprisk restart".'
      findings.push(problem('certificate_ends', text, fix))
    }
  } catch (error) {
    const code = error instanceof IpriskError ? error.code : 'tls_unusable'
    findings.push(problem(code, messageOf(error), 'Mend the file that is named.'))
  }
  return findings
}
