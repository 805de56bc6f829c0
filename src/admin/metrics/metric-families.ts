// All metrics of the server but the histogram, which prometheus-text.ts has; it writes them all. A
// test compares them with docs/operate.md. A name ends in its unit: seconds, bytes, total.

import type { PoliciesStatus, SampleStatus } from '../../api/admin-answers.ts'
import { degradedCodes } from '../../adapters/gate/visit-answer.ts'
import { ageSeconds, formatDay } from '../../base/day.ts'
import { packageVersion } from '../../base/package-root.ts'
import { readDecisionLabel } from '../../model/policy-form.ts'
import { classifications, levels, outcomeWords } from '../../model/kind.ts'
import type { LabelSnapshot } from '../../observe/label-counts.ts'
import {
  type CounterSnapshot,
  answersBySource,
  counterTotals,
  httpStatuses,
} from '../../observe/request-counters.ts'
import type { AdminRefusalCode } from '../admin-refusals.ts'
import { noOutcomeCounts, type OutcomeCounts } from '../../lists/reported-lists.ts'
import type { ListsStatus } from '../../supervisor/lists/lists-manager.ts'
import type { WorkerStatus } from '../../supervisor/supervisor.ts'
import type { RefreshStatus } from '../../supervisor/tables/refresh.ts'
import type { TableManagerStatus } from '../../supervisor/tables/table-manager.ts'
import type { TablePullStatus } from '../../supervisor/tables/table-pull.ts'
import type { RestartCause } from '../../supervisor/worker-registry.ts'
import { coverageToday } from '../../table/answer/table-coverage.ts'
import type { TableInfo } from '../../table/served-table.ts'

export interface ScrapeData {
  /** The sum of all workers, dead ones included. */
  readonly total: CounterSnapshot
  readonly workers: readonly { readonly worker: number; readonly counters: CounterSnapshot }[]
  /** The same workers as seen by the primary; `openFiles` only if the system reports it. */
  readonly workerStatuses: readonly (WorkerStatus & { readonly openFiles: number | undefined })[]
  readonly listening: number
  readonly restarts: Readonly<Record<RestartCause, number>>
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly tables: TableManagerStatus
  readonly policies?: PoliciesStatus | undefined
  readonly lists: ListsStatus
  readonly outcomes?: OutcomeCounts | undefined
  /** Absent where no traffic is sampled. */
  readonly sample?: SampleStatus | undefined
  readonly refresh: RefreshStatus | undefined
  /** Absent if no published tables are pulled. */
  readonly source?: TablePullStatus | undefined
  readonly adminRefusals: Readonly<Record<AdminRefusalCode, number>>
  readonly ready: boolean
  readonly now: number
}

export function metricFamilies(gathered: ScrapeData): MetricFamilies {
  return {
    ...requestFamilies(gathered.total),
    ...gateFamilies(gathered.total),
    ...verdictFamilies(gathered.total),
    ...connectionFamilies(gathered.total),
    ...tableFamilies(gathered),
    ...swapFamilies(gathered),
    ...sampleFamilies(gathered),
    ...policyFamilies(gathered),
    ...sourceFamilies(gathered.source),
    ...serverFamilies(gathered),
    ...workerFamilies(gathered),
    ...poolFamilies(gathered),
  }
}

function policyFamilies({ policies, lists, outcomes }: ScrapeData): MetricFamilies {
  const { revision = '', last_failure: failure = null, warnings = [] } = policies ?? {}
  return {
    iprisk_policies_info: family(
      'Revision of the policies in use: always 1.',
      ['revision'],
      revision === '' ? [] : [[{ revision }, 1]],
    ),
    iprisk_policies_refused: family(
      '1 while the policies file is invalid or missing.',
      policies === undefined ? undefined : Number(failure !== null),
    ),
    iprisk_policy_warnings: family(
      'Warnings about the policies in use: conditions that can never match, duplicate members, obsolete syntax.',
      policies === undefined ? undefined : warnings.length,
    ),
    iprisk_lists_refused: family(
      '1 while the own lists in the store cannot be used: ' +
        'the previous lists stay in use, or after a start the readable parts.',
      Number(lists.failure !== ''),
    ),
    iprisk_reported_addresses_total: family(
      'Addresses in the own lists that outcomes fill, by result: entered, left, not entered because their key (over_key) or the lists (full) are at the limit, or no longer counted because the limit of counted addresses was reached (forgotten).',
      ...by('result', outcomes ?? noOutcomeCounts),
    ),
  }
}

function gateFamilies(total: CounterSnapshot): MetricFamilies {
  return {
    iprisk_gate_requests_total: family(
      'Gate requests answered, by HTTP status code; iprisk_requests_total excludes them.',
      ['code'],
      gateStatuses.map((code) => [{ code }, total.gateRequests[httpStatuses.indexOf(code)] ?? 0]),
    ),
    iprisk_gate_refused_connections_total: family(
      'Connections to the gate closed at accept: their peers are not in --gate-peers.',
      counterTotals(total).closedForPeer,
    ),
    iprisk_gate_private_visitors_total: family(
      'Visitors at the gate with a private or reserved address; if all have one, check --gate-header and --gate-trust.',
      counterTotals(total).privateVisitors,
    ),
    iprisk_gate_degraded_total: family(
      'Visitors let in by the gate without a decision, or decided by the default policy (unknown_policy), by reason.',
      ['reason'],
      degradedCodes.map((reason) => [{ reason }, total.gateDegraded[reason]?.[0] ?? 0]),
    ),
  }
}

/** Counts per status of the API; 204 is the gate's. */
function apiStatuses(requests: readonly number[]) {
  return httpStatuses.flatMap((code, i) =>
    code === 204 ? [] : [[{ code }, requests[i] ?? 0] as const],
  )
}

const gateStatuses = [200, 204, 401, 403, 404] as const

function requestFamilies(total: CounterSnapshot): MetricFamilies {
  const totals = counterTotals(total)
  return {
    iprisk_requests_total: family(
      'Requests answered, by HTTP status code, without those of test keys.',
      ['code'],
      apiStatuses(total.requests),
    ),
    iprisk_test_requests_total: family(
      'Requests of test keys answered, by HTTP status code; no other request metric counts them.',
      ['code'],
      apiStatuses(total.testRequests),
    ),
    iprisk_answers_total: family(
      'Checks answered with 200 or by the gate, by classification.',
      ['classification'],
      classifications.map((name, i) => [{ classification: name }, total.answers[i] ?? 0]),
    ),
    iprisk_answers_by_source_total: family(
      'Checks answered with 200 or by the gate, by source: check (the API), gate, bouncer (live).',
      ...by('source', answersBySource(total)),
    ),
    iprisk_limited_requests_total: family(
      'Requests answered with 429, by exceeded limit.',
      ...by('limit', { rate: totals.rateLimited, quota: totals.quotaLimited }),
    ),
    iprisk_framing_refusals_total: family(
      'Connections closed without an answer because the end of the request was ambiguous.',
      totals.refused,
    ),
    iprisk_aborted_requests_total: family(
      'Requests whose client disconnected before the answer.',
      totals.aborted,
    ),
    iprisk_bodies_refused_total: family(
      'Request bodies refused with 503 because the bodies in flight used up the memory limit.',
      totals.shed,
    ),
    iprisk_store_outages_total: family(
      'Times a worker lost the store of keys and quotas.',
      totals.outages,
    ),
    iprisk_store_losses_total: family(
      'Times the store lost keys or quota units that it had acknowledged.',
      totals.losses,
    ),
    iprisk_decision_log_lines_total: family(
      'Lines of the decision log, by result: taken, or lost because the queue for the disk was full.',
      ...by('result', { taken: totals.decisionsLogged, lost: totals.decisionsLost }),
    ),
  }
}

function connectionFamilies(total: CounterSnapshot): MetricFamilies {
  const { opened, closedForAll, closedForAddress, closedForWork } = counterTotals(total)
  return {
    iprisk_connections_opened_total: family('Connections accepted.', opened),
    iprisk_connections_closed_total: family(
      'Connections closed by a cap: at accept (all, address) or during a request (work).',
      ...by('cap', { all: closedForAll, address: closedForAddress, work: closedForWork }),
    ),
  }
}

const coveredShares = { full: 1, partly: 0.5, missing: 0 } as const

function tableFamilies({ table, now }: ScrapeData): MetricFamilies {
  const { sources = [] } = table ?? {}
  const coverage = table === undefined ? [] : coverageToday(table, now).coverage
  return {
    iprisk_table_info: family(
      'The table in use: always 1.',
      ['table', 'as_of'],
      table === undefined ? [] : [[{ table: table.id, as_of: formatDay(table.asOf) }, 1]],
    ),
    iprisk_table_age_seconds: family(
      'Age of the table, from the start of its as-of day (UTC).',
      // No table has no age; 0 would be wrong.
      table === undefined ? undefined : ageSeconds(table.asOf, now),
    ),
    iprisk_table_size_bytes: family('Size of the table in use.', table?.bytes),
    iprisk_feed_age_seconds: family(
      'Age of the feed snapshot in the table, from the start of its day (UTC).',
      ['feed'],
      sources.map(({ id, day }) => [{ feed: id }, ageSeconds(day, now)]),
    ),
    iprisk_kind_covered: family(
      'How well the feeds of the table cover a kind today: 1 fully, 0.5 partly (hand-kept tables only, or truncated feeds), 0 not at all or only by outdated feeds.',
      ['kind'],
      coverage.map(({ kind, state }) => [{ kind }, coveredShares[state]]),
    ),
    iprisk_kind_addresses: family(
      'IPv4 addresses listed by the newest feed snapshots in the table, by kind.',
      ['kind'],
      coverage.map(({ kind, addresses }) => [{ kind }, addresses]),
    ),
    iprisk_feed_quarantined: family(
      '1 for a feed whose newest snapshot was rejected; the table holds its last good one.',
      ['feed'],
      sources.map(({ id, quarantined }) => [{ feed: id }, quarantined ? 1 : 0]),
    ),
  }
}

function swapFamilies({ tables, refresh }: ScrapeData): MetricFamilies {
  const { swaps, refusals_by: refusals, last_swap: swap, last_refusal: refusal } = tables
  const lasted = swap === null ? undefined : swap.took_ms / 1000
  return {
    iprisk_table_swaps_total: family('Tables loaded.', swaps),
    iprisk_table_refusals_total: family('Tables rejected, by reason.', ...by('reason', refusals)),
    iprisk_table_held: family(
      '1 while a rolled-back table is kept from loading again.',
      tables.held === null ? 0 : 1,
    ),
    iprisk_table_last_swap_timestamp_seconds: family(
      'Time of the last table swap.',
      instant(swap?.at),
    ),
    iprisk_table_last_refusal_timestamp_seconds: family(
      'Time of the last table rejection.',
      instant(refusal?.at),
    ),
    iprisk_table_last_swap_duration_seconds: family(
      'Duration of the last swap, until all workers answered from the new table.',
      lasted,
    ),
    iprisk_refresh_runs_total: family('Builds started by --refresh-every.', refresh?.runs),
    iprisk_refresh_failures_total: family(
      'Builds started by --refresh-every that failed.',
      refresh?.failures,
    ),
    iprisk_refresh_last_success_timestamp_seconds: family(
      'Time of the last successful build started by --refresh-every.',
      instant(refresh?.last_success_at),
    ),
  }
}

function sampleFamilies({ tables: { last_trial: trial }, sample }: ScrapeData) {
  return {
    iprisk_sampled_checks: family(
      'Addresses in the traffic sample that new tables are tested on; 0 if sampling is off.',
      sample?.checks ?? 0,
    ),
    iprisk_table_trial_changed_ratio: family(
      'Share of the sampled addresses that the newest table decides differently from the previous one.',
      trial === null ? undefined : trial.percent / 100,
    ),
    iprisk_table_trial_refused: family(
      '1 while the newest table is rejected because of the traffic sample.',
      Number(trial?.refused === true),
    ),
  }
}

function serverFamilies({
  listening,
  ready,
  restarts,
  degraded,
  adminRefusals,
}: ScrapeData): MetricFamilies {
  return {
    iprisk_admin_refusals_total: family(
      'Requests refused by the admin port: wrong tokens and exceeded limits, by reason.',
      ...by('reason', adminRefusals),
    ),
    iprisk_build_info: family(
      'Version of the running program: always 1.',
      ['version', 'node'],
      [[{ version: packageVersion, node: process.version }, 1]],
    ),
    iprisk_ready: family(
      '1 while /readyz reports ready: a table is loaded and the server is not draining.',
      ready ? 1 : 0,
    ),
    iprisk_workers: family('Workers accepting connections.', listening),
    iprisk_worker_restarts_total: family(
      'Workers replaced because they crashed, hung or used too much memory, by cause.',
      ...by('cause', restarts),
    ),
    iprisk_degraded: family('1 while workers crash repeatedly.', degraded ? 1 : 0),
  }
}

function workerFamilies({ workers, workerStatuses }: ScrapeData): MetricFamilies {
  const each = (help: string, read: (counters: CounterSnapshot) => number): MetricFamily => {
    return family(
      help,
      ['worker'],
      workers.map(({ worker, counters }) => [{ worker }, read(counters)]),
    )
  }
  return {
    iprisk_store_up: each(
      '1 while the worker reaches the store of keys and quotas.',
      ({ storeReachable, keysReadable }) => (storeReachable && keysReadable ? 1 : 0),
    ),
    iprisk_keys_skipped: each(
      'Invalid key records: each is skipped, and its key gets 401.',
      ({ keysSkipped }) => keysSkipped,
    ),
    iprisk_worker_resident_memory_bytes: each(
      'Resident memory of a worker, including the table that all workers share.',
      ({ residentBytes }) => residentBytes,
    ),
    iprisk_connections: each('Open connections of a worker.', ({ connections }) => connections),
    iprisk_body_bytes: each(
      'Memory held by request bodies in flight in a worker.',
      ({ bodyBytes }) => bodyBytes,
    ),
    iprisk_worker_cpu_seconds_total: each(
      'User and system time of a worker since it started.',
      ({ cpuSeconds }) => cpuSeconds,
    ),
    iprisk_worker_loop_delay_max_seconds: each(
      'Longest event loop delay of a worker in the last 15 to 30 seconds.',
      ({ loop }) => loop.delayMaxSeconds,
    ),
    iprisk_worker_loop_delay_p99_seconds: each(
      'p99 event loop delay of a worker in the last 15 to 30 seconds.',
      ({ loop }) => loop.delayP99Seconds,
    ),
    iprisk_worker_loop_busy_seconds_total: each(
      'Time in which the event loop of a worker was not idle; its rate is the loop utilization.',
      ({ loop }) => loop.busySeconds,
    ),
    iprisk_worker_open_fds: family(
      'Open file descriptors of a worker, one per connection; the limit is process_max_fds.',
      ['worker'],
      workerStatuses.flatMap(({ worker, openFiles }) =>
        openFiles === undefined ? [] : [[{ worker }, openFiles]],
      ),
    ),
  }
}

function poolFamilies({ total, workers }: ScrapeData): MetricFamilies {
  const { pool } = total
  const now = (of: 'threads' | 'requests' | 'waiting'): number =>
    workers.reduce((sum, { counters }) => sum + counters.pool[of], 0)
  return {
    iprisk_pool_threads: family('Threads of the pools; 0 until the first task.', now('threads')),
    iprisk_pool_requests: family(
      'Requests for insights and batches currently in the pools.',
      now('requests'),
    ),
    iprisk_pool_queue: family('Tasks waiting for a pool thread.', now('waiting')),
    iprisk_pool_refused_total: family('Requests refused because a pool was full.', pool.refused),
    iprisk_pool_tasks_total: family('Round trips to pool threads.', pool.tasks),
    iprisk_pool_items_total: family('Tasks sent to pool threads.', pool.items),
    iprisk_pool_deaths_total: family('Pool threads that crashed and were replaced.', pool.deaths),
    iprisk_pool_wait_seconds_total: family(
      'Time that tasks waited for a pool thread, in total.',
      pool.waitMs / 1000,
    ),
    iprisk_pool_run_seconds_total: family(
      'Time that pool threads were busy, including waiting for a core; its rate over iprisk_pool_threads is their utilization.',
      pool.runMs / 1000,
    ),
  }
}

function sourceFamilies(source: TablePullStatus | undefined): MetricFamilies {
  const last = source?.last_pull ?? null
  return {
    iprisk_source_up: family(
      '1 while --table-url is reachable and its table is accepted.',
      source === undefined ? undefined : Number(source.up),
    ),
    iprisk_source_refusals_total: family(
      'Polls of --table-url without an acceptable table, by reason.',
      ...by('reason', source?.refusals_by ?? {}),
    ),
    iprisk_source_last_success_timestamp_seconds: family(
      'Time of the last poll of --table-url that returned an accepted or unchanged manifest.',
      instant(source?.last_success_at),
    ),
    iprisk_source_pulled_bytes_total: family(
      'Bytes of table parts downloaded from --table-url.',
      source?.pulled_bytes,
    ),
    iprisk_source_last_pull_duration_seconds: family(
      'Duration of the last download, from its manifest to the complete table.',
      last === null ? undefined : last.took_ms / 1000,
    ),
  }
}

/** Single checks only, for the dashboard "Login risk": a login checks one address. */
function verdictFamilies(total: CounterSnapshot): MetricFamilies {
  const { feedbackOverShare, feedbackNotKept } = counterTotals(total)
  return {
    iprisk_scores_total: family(
      'Single checks answered with 200, by risk level.',
      ['level'],
      levels.map((level, i) => [{ level }, total.scores[i] ?? 0]),
    ),
    iprisk_countries_total: family(
      'Single checks answered with 200, by country (empty if unknown) and risk level.',
      ['country', 'level'],
      byLevel('country', total.countries),
    ),
    iprisk_providers_total: family(
      'Single checks answered with 200 that name a proxy or bot provider, by provider and risk level.',
      ['provider', 'level'],
      byLevel('provider', total.providers),
    ),
    iprisk_decisions_total: family(
      'Decisions on single checks without insights, by policy, rule (empty: no rule matched) and action.',
      ['policy', 'rule', 'action'],
      Object.entries(total.decisions).map(([label, [count = 0]]) => [
        { ...readDecisionLabel(label) },
        count,
      ]),
    ),
    iprisk_observed_total: family(
      'Single checks without insights that matched an observed rule, by policy and rule.',
      ['policy', 'rule'],
      Object.entries(total.observed).map(([label, [count = 0]]) => {
        const { policy, rule } = readDecisionLabel(label)
        return [{ policy, rule }, count]
      }),
    ),
    iprisk_outcomes_total: family(
      'Outcomes reported over HTTP, by outcome.',
      ['outcome'],
      outcomeWords.map((outcome, i) => [{ outcome }, total.outcomes[i] ?? 0]),
    ),
    iprisk_feedback_refused_total: family(
      'Feedback requests that were not stored, by reason: over_share (its key has used up its share), not_kept (no room, or the disk failed).',
      ...by('reason', { over_share: feedbackOverShare, not_kept: feedbackNotKept }),
    ),
  }
}

function by(label: string, counts: Readonly<Record<string, number>>) {
  const samples = Object.entries(counts).map(([name, count]): MetricSample => [
    { [label]: name },
    count,
  ])
  return [[label], samples] as const
}

/** Without zeros: there are hundreds of names. */
function byLevel(label: 'country' | 'provider', counted: LabelSnapshot): readonly MetricSample[] {
  return Object.entries(counted).flatMap(([name, counts]) =>
    levels.flatMap((level, i): readonly MetricSample[] =>
      (counts[i] ?? 0) === 0 ? [] : [[{ [label]: name, level }, counts[i]!]],
    ),
  )
}

type MetricSample = readonly [labels: Readonly<Record<string, string | number>>, value: number]

export interface MetricFamily {
  readonly help: string
  readonly labels: readonly string[]
  readonly samples: readonly MetricSample[]
}

/** Keyed by name. Counters, and nothing else, end in `_total`. */
export type MetricFamilies = Readonly<Record<string, MetricFamily>>

/** Without labels: one sample, or none without a value. */
function family(
  help: string,
  ...values:
    | readonly [value: number | undefined]
    | readonly [labels: readonly string[], samples: readonly MetricSample[]]
): MetricFamily {
  if (values.length === 2) return { help, labels: values[0], samples: values[1] }
  const [value] = values
  return { help, labels: [], samples: value === undefined ? [] : [[{}, value]] }
}

function instant(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Date.parse(text) / 1000
}
