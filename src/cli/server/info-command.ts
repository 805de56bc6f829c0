// `iprisk info`: the state of the running server and of the table file. The doctor judges it. Exit
// code 1 if no server answers.

import { alignColumns } from '../../base/text/align-columns.ts'
import {
  formatCount,
  formatCounted,
  formatMegabytes,
  formatTimeSpan,
} from '../../base/text/number-format.ts'
import { messageOf } from '../../base/coded-error.ts'
import type { CoverageReport } from '../../api/coverage-answer.ts'
import type { Settings } from '../../config/settings.ts'
import { urlOf } from '../../supervisor/sockets/port-probe.ts'
import { type ServerStatus, type TableStatus, tableStatus } from '../../admin/status.ts'
import { dataSetOf } from '../../table/file/table-source.ts'
import { openTable } from '../../table/open-table.ts'
import { type StatusAnswer, adminName, askStatus } from './ask-admin.ts'
import { coverageLines } from '../terminal/coverage-lines.ts'
import { exitCodes, type Io, printResult } from '../terminal/io.ts'

type FileStatus =
  | (TableStatus & { readonly ipv4_boundaries: number; readonly ipv6_boundaries: number })
  | { readonly path: string; readonly problem: string }

export async function infoCommand(settings: Settings, io: Io): Promise<number> {
  const answer = await askStatus(settings.serve)
  const file = fileStatus(settings.table, Date.now())
  const server = answer.kind === 'status' ? answer.status : null
  printResult(io, settings.invocation.json, { server, table_file: file }, () =>
    alignColumns([...(server === null ? [] : serverRows(server)), ...fileRows(file, server)], 2),
  )
  if (server !== null) return exitCodes.done
  io.err(`iprisk: ${noAnswerText(settings, answer)}`)
  return exitCodes.failed
}

function noAnswerText({ serve }: Settings, { kind }: StatusAnswer): string {
  const at = adminName(serve)
  if (kind === 'denied')
    return `The server on ${at} requires a token; name its file with --admin-token-file.`
  if (kind === 'stranger') return `The program on ${at} is not an iprisk server of this version.`
  return `No server answers on ${at}. Name its admin port with --admin-port or --admin-socket.`
}

function fileStatus(path: string, now: number): FileStatus {
  try {
    const table = openTable(path)
    const { views } = table.reader
    const sources = table.sources.map((source) => {
      const quarantined = source.quarantined ?? false
      return { ...source, quarantined, dataSet: dataSetOf(source) }
    })
    const status = tableStatus(path, { ...table, sources }, now)
    const boundaries = {
      ipv4_boundaries: views.ipv4_starts.length,
      ipv6_boundaries: views.ipv6_keys.length,
    }
    table.close()
    return { ...status, ...boundaries }
  } catch (error) {
    return { path, problem: messageOf(error) }
  }
}

type Row = readonly [name: string, text: string]

function serverRows(server: ServerStatus): readonly Row[] {
  const { version, node, pid, uptime_seconds: uptime, status, listens, workers, memory } = server
  const stalls = workers.each.map((worker) => worker.loop_delay_max_seconds * 1000)
  const { requests, limited, store, table } = server
  const answered = Object.entries(requests).map(
    ([code, times]) => `${formatCount(times)} × ${code}`,
  )
  return [
    ['server', `iprisk ${version} on Node ${node}, process ${pid}, up ${formatTimeSpan(uptime)}`],
    ['state', stateText(status)],
    ['address', urlOf(listens)],
    [
      'workers',
      `${workers.listening} of ${workers.wanted}, ${workers.restarts} replaced after faults`,
    ],
    ['loop', `longest recent pause: ${Math.max(0, ...stalls).toFixed(1)} ms`],
    ['memory', memoryText(memory)],
    ['requests', answered.join(', ') || 'none yet'],
    [
      'limits',
      `429 answers: ${formatCount(limited.rate)} by rate limit, ${formatCount(limited.quota)} by quota`,
    ],
    ['store', storeText(store)],
    ...refusedRows(server),
    ['table', table === null ? 'none' : tableText(table)],
    ...(table === null ? [] : coverageRows(table.coverage)),
    ...dataSetRows(table),
    ...policyRows(server.policies),
    ...swapRows(server),
    ...sampleRows(server),
    ...sourceRows(server),
  ]
}

function sampleRows({ sample, tables: { last_trial: trial } }: ServerStatus): readonly Row[] {
  if (sample === null) return []
  const { checks, size, since } = sample
  const from = since === null ? '' : ` since ${since}`
  const rows: Row[] = [
    ['sample', `${formatCount(checks)} of ${formatCount(size)} addresses${from}`],
  ]
  if (trial === null) return rows
  const { at, table, counted, percent, max_percent: most } = trial
  const text = `${percent} % of ${counted} changed, limit ${most} %`
  return [...rows, ['', `${at} ${table}${trial.refused ? ' rejected' : ''}: ${text}`]]
}

function policyRows(policies: ServerStatus['policies']): readonly Row[] {
  if (policies === null) return [['policies', 'none, so answers have no decision']]
  const { revision, names, path, warnings, last_failure: failure } = policies
  const rows: Row[] = [['policies', `${revision} of ${path}: ${names.join(', ')}`]]
  if (failure !== null) rows.push(['', `${failure.at} rejected: ${failure.reason}`])
  for (const warning of warnings) rows.push(['', `warning: ${warning}`])
  return rows
}

function stateText(status: ServerStatus['status']): string {
  if (status === 'ready') return 'ready'
  return status === 'degraded' ? 'ready, but workers crash' : `not ready: ${status}`
}

function memoryText(memory: ServerStatus['memory']): string {
  const { workers_resident_bytes: workers, primary_resident_bytes: primary } = memory
  return `workers ${formatMegabytes(workers)} MB with the shared table, primary ${formatMegabytes(primary)} MB`
}

function storeText({ name, up, outages, policy }: ServerStatus['store']): string {
  return `${name}, ${up ? 'up' : `down (policy: ${policy})`}, ${formatCount(outages)} outages`
}

function refusedRows({ store, lists }: ServerStatus): readonly Row[] {
  const rows: Row[] = []
  if (store.keys_skipped > 0) {
    const count = formatCounted(store.keys_skipped, 'invalid key record', 'invalid key records')
    rows.push(['', `${count}: "iprisk keys list" has details`])
  }
  if (lists.failure !== '') rows.push(['lists', `not up to date: ${lists.failure}`])
  return rows
}

function tableText({
  id,
  as_of: day,
  age_seconds: age,
  bytes,
  feeds,
  quarantined,
}: TableStatus): string {
  const kept = quarantined.length === 0 ? '' : `, quarantined: ${quarantined.join(' ')}`
  return `${id} as of ${day} (${formatTimeSpan(age)} old), ${formatMegabytes(bytes)} MB, ${feeds} feeds${kept}`
}

function coverageRows(coverage: CoverageReport): readonly Row[] {
  return coverageLines(coverage).map((text, row) => [row === 0 ? 'covers' : '', text])
}

function dataSetRows(table: TableStatus | null): readonly Row[] {
  const sets = table?.data_sets ?? []
  return sets.map(({ name, id, day, age_seconds: age, quarantined }): Row => {
    const kept = quarantined ? ', a newer edition is quarantined' : ''
    return [name, `${id} of ${day} (${formatTimeSpan(age)} old)${kept}`]
  })
}

function swapRows({ tables, refresh }: ServerStatus): readonly Row[] {
  const { swaps, refusals, last_swap: swap, last_refusal: refusal } = tables
  const rows: Row[] = [['swaps', `${formatCount(swaps)} loaded, ${formatCount(refusals)} rejected`]]
  if (swap !== null) rows.push(['', `${swap.at} ${swap.table}, in ${formatCount(swap.took_ms)} ms`])
  if (refusal !== null) rows.push(['', `${refusal.at} rejected: ${refusal.reason}`])
  if (refresh === null) return rows
  const { every_ms: every, running, next_at: next, runs, failures, last_failure: failure } = refresh
  const then = running ? 'one is running' : `next at ${next ?? '?'}`
  const span = every === 0 ? 'until all feeds are fetched' : `every ${formatTimeSpan(every / 1000)}`
  const often = `${span}, ${then}; ${runs} started, ${failures} failed`
  rows.push(['refresh', often])
  if (failure !== null) rows.push(['', `${failure.at} failed: ${failure.reason}`])
  return rows
}

function sourceRows({ source }: ServerStatus): readonly Row[] {
  if (source === null) return []
  const { url, up, last_success_at: at, last_refusal: refusal, last_pull: pull } = source
  const state = up
    ? `up, last polled ${at ?? '?'}`
    : `no successful poll since ${at ?? 'the start'}`
  const rows: Row[] = [['source', `${url}: ${state}`]]
  if (pull !== null) {
    const { bytes, reused_bytes: here, took_ms: ms } = pull
    const moved = `${formatMegabytes(bytes)} MB downloaded, ${formatMegabytes(here)} MB reused`
    rows.push(['', `${pull.at} ${pull.table}: ${moved}, in ${formatCount(ms)} ms`])
  }
  if (refusal !== null)
    rows.push(['', `${refusal.at} rejected (${refusal.code}): ${refusal.reason}`])
  return rows
}

function fileRows(file: FileStatus, server: ServerStatus | null): readonly Row[] {
  if ('problem' in file) return [['file', file.problem]]
  const { ipv4_boundaries: ipv4, ipv6_boundaries: ipv6 } = file
  const same = server?.table?.id === file.id
  return [
    ['file', same ? `${file.path}: the table in use` : `${file.path}: ${tableText(file)}`],
    ['', `${formatCount(ipv4)} IPv4 and ${formatCount(ipv6)} IPv6 boundaries`],
    ...(same ? [] : coverageRows(file.coverage)),
    ...(same ? [] : dataSetRows(file)),
  ]
}
