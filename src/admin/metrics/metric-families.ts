// All metrics of the server. prometheus-text.ts writes them; a test compares docs/operate.md with
// them. A name ends in its unit: seconds, bytes, total.

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
import type { ListsStatus } from '../../supervisor/lists/lists-manager.ts'
import type { WorkerStatus } from '../../supervisor/supervisor-status.ts'
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
  /** The same workers as the primary sees them; `openFiles` only if the system reports it. */
  readonly workerStatuses: readonly (WorkerStatus & { readonly openFiles: number | undefined })[]
  readonly listening: number
  readonly restarts: Readonly<Record<RestartCause, number>>
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly tables: TableManagerStatus
  readonly policies?: PoliciesStatus | undefined
  readonly lists: ListsStatus
  /** Absent where no traffic is sampled. */
  readonly sample?: SampleStatus | undefined
  readonly refresh: RefreshStatus | undefined
  /** Absent where no published tables are taken. */
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

function policyFamilies({ policies, lists }: ScrapeData): MetricFamilies {
  const { revision = '', last_failure: failure = null, warnings = [] } = policies ?? {}
  return {
    iprisk_policies_info: family(
      'The policies in use, by their revision.',
      ['revision'],
      revision === '' ? [] : [[{ revision }, 1]],
    ),
    iprisk_policies_refused: family(
      'Whether the policies file has a mistake or is gone.',
      policies === undefined ? undefined : Number(failure !== null),
    ),
    iprisk_policy_warnings: family(
      'Warnings about the policies in use: conditions that can never match, members that appear twice, syntax that is no longer allowed.',
      policies === undefined ? undefined : warnings.length,
    ),
    iprisk_lists_refused: family(
      '1 while the own lists in the store cannot be used: ' +
        'the previous lists stay in use, after a start the readable parts.',
      Number(lists.failure !== ''),
    ),
  }
}

function gateFamilies(total: CounterSnapshot): MetricFamilies {
  return {
    iprisk_gate_requests_total: family(
      'Requests to the gate answered, by HTTP status code; iprisk_requests_total has none of them.',
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
      'Visitors that the gate let in undecided or, unknown_policy, decided by default, by the reason.',
      ['reason'],
      degradedCodes.map((reason) => [{ reason }, total.gateDegraded[reason]?.[0] ?? 0]),
    ),
  }
}

/** By each status that the API answers with; 204 is the gate's. */
function apiStatuses(requests: readonly number[]) {
  return httpStatuses.flatMap((code, i) =>
    code === 204 ? [] : [[{ code }, requests[i] ?? 0] as const],
  )
}

/** What the gate answers with (src/adapters/gate). */
const gateStatuses = [200, 204, 401, 403, 404] as const

function requestFamilies(total: CounterSnapshot): MetricFamilies {
  const totals = counterTotals(total)
  return {
    iprisk_requests_total: family(
      'Requests answered, by HTTP status code; those of test keys are not among them.',
      ['code'],
      apiStatuses(total.requests),
    ),
    iprisk_test_requests_total: family(
      'Requests of test keys answered, by HTTP status code: no other metric of requests has them.',
      ['code'],
      apiStatuses(total.testRequests),
    ),
    iprisk_answers_total: family(
      'Checks answered with 200 or by the gate, by classification.',
      ['classification'],
      classifications.map((name, i) => [{ classification: name }, total.answers[i] ?? 0]),
    ),
    iprisk_answers_by_source_total: family(
      'The same by who asked: check (the API), gate, bouncer (live).',
      ...by('source', answersBySource(total)),
    ),
    iprisk_limited_requests_total: family(
      'Requests answered with 429, by the limit that was exceeded.',
      ...by('limit', { rate: totals.rateLimited, quota: totals.quotaLimited }),
    ),
    iprisk_framing_refusals_total: family(
      'Connections closed without an answer because a request had no clear end.',
      totals.refused,
    ),
    iprisk_aborted_requests_total: family(
      'Requests whose client went away before the answer.',
      totals.aborted,
    ),
    iprisk_bodies_refused_total: family(
      'Bodies refused with 503 because those under way held all the room, counted at the refusal.',
      totals.shed,
    ),
    iprisk_store_outages_total: family(
      'How often a worker found the store of keys and quotas gone.',
      totals.outages,
    ),
    iprisk_store_losses_total: family(
      'How often the store was found to have lost keys or quota units that it had acknowledged.',
      totals.losses,
    ),
    iprisk_decision_log_lines_total: family(
      'Lines of the decision log: taken, and lost because too many waited for the disk.',
      ...by('result', { taken: totals.decisionsLogged, lost: totals.decisionsLost }),
    ),
  }
}

function connectionFamilies(total: CounterSnapshot): MetricFamilies {
  const { opened, closedForAll, closedForAddress, closedForWork } = counterTotals(total)
  return {
    iprisk_connections_opened_total: family('Connections that were let in.', opened),
    iprisk_connections_closed_total: family(
      'Connections closed by the cap that they were above: at accept (all, address) or in a request (work).',
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
      'The table that answers: always 1.',
      ['table', 'as_of'],
      table === undefined ? [] : [[{ table: table.id, as_of: formatDay(table.asOf) }, 1]],
    ),
    iprisk_table_age_seconds: family(
      'Since the beginning of the day, UTC, that counts as today for the table.',
      // No table has no age; 0 would be a lie.
      table === undefined ? undefined : ageSeconds(table.asOf, now),
    ),
    iprisk_table_size_bytes: family('Size of the table that answers.', table?.bytes),
    iprisk_feed_age_seconds: family(
      'Since the beginning of the day, UTC, of the snapshot in the table.',
      ['feed'],
      sources.map(({ id, day }) => [{ feed: id }, ageSeconds(day, now)]),
    ),
    iprisk_kind_covered: family(
      'Whether feeds of the table cover a kind today: 1, ' +
        '0.5 partly (hand-kept tables alone, or feeds cut short), ' +
        '0 not at all, or only by feeds that are now too old.',
      ['kind'],
      coverage.map(({ kind, state }) => [{ kind }, coveredShares[state]]),
    ),
    iprisk_kind_addresses: family(
      'IPv4 addresses that the newest snapshots of feeds in the table list, by kind.',
      ['kind'],
      coverage.map(({ kind, addresses }) => [{ kind }, addresses]),
    ),
    iprisk_feed_quarantined: family(
      '1 for a feed whose newest snapshot the build refused: ' +
        'its last good one is in the table.',
      ['feed'],
      sources.map(({ id, quarantined }) => [{ feed: id }, quarantined ? 1 : 0]),
    ),
  }
}

function swapFamilies({ tables, refresh }: ScrapeData): MetricFamilies {
  const { swaps, refusals_by: refusals, last_swap: swap, last_refusal: refusal } = tables
  const lasted = swap === null ? undefined : swap.took_ms / 1000
  return {
    iprisk_table_swaps_total: family('New tables that were swapped in.', swaps),
    iprisk_table_refusals_total: family(
      'New tables that were refused, by what was wrong.',
      ...by('reason', refusals),
    ),
    iprisk_table_held: family(
      '1 while a table that was rolled back is kept out.',
      tables.held === null ? 0 : 1,
    ),
    iprisk_table_last_swap_timestamp_seconds: family(
      'When a new table was swapped in last.',
      instant(swap?.at),
    ),
    iprisk_table_last_refusal_timestamp_seconds: family(
      'When a new table was refused last.',
      instant(refusal?.at),
    ),
    iprisk_table_last_swap_duration_seconds: family(
      'From taking up the last new table to all workers answering from it.',
      lasted,
    ),
    iprisk_refresh_runs_total: family('Builds begun by --refresh-every.', refresh?.runs),
    iprisk_refresh_failures_total: family(
      'Builds begun by --refresh-every that failed.',
      refresh?.failures,
    ),
    iprisk_refresh_last_success_timestamp_seconds: family(
      'When a build begun by --refresh-every succeeded last.',
      instant(refresh?.last_success_at),
    ),
  }
}

function sampleFamilies({ tables: { last_trial: trial }, sample }: ScrapeData) {
  return {
    iprisk_sampled_checks: family(
      'Addresses in the sample of traffic by which new tables are judged; 0 where nothing is sampled.',
      sample?.checks ?? 0,
    ),
    iprisk_table_trial_changed_ratio: family(
      'Of the sampled addresses, those that the newest table would decide otherwise than the one before.',
      trial === null ? undefined : trial.percent / 100,
    ),
    iprisk_table_trial_refused: family(
      '1 while the newest table is kept out because of the sampled traffic.',
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
      'Requests that the admin port refused: wrong tokens, and what it has limits against.',
      ...by('reason', adminRefusals),
    ),
    iprisk_build_info: family(
      'The program that runs: always 1.',
      ['version', 'node'],
      [[{ version: packageVersion, node: process.version }, 1]],
    ),
    iprisk_ready: family(
      '1 while a table is loaded and the server is not draining, as /readyz says.',
      ready ? 1 : 0,
    ),
    iprisk_workers: family('Workers that listen.', listening),
    iprisk_worker_restarts_total: family(
      'Workers that were replaced because they crashed, hung or grew.',
      ...by('cause', restarts),
    ),
    iprisk_degraded: family('1 while workers die again and again.', degraded ? 1 : 0),
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
      '1 while the store of keys and quotas answers a worker, 0 since it failed.',
      ({ storeReachable, keysReadable }) => (storeReachable && keysReadable ? 1 : 0),
    ),
    iprisk_keys_skipped: each(
      'Invalid key records: each is skipped, and its key gets 401.',
      ({ keysSkipped }) => keysSkipped,
    ),
    iprisk_worker_resident_memory_bytes: each(
      'Resident memory of a worker; the table in it is shared by all of them.',
      ({ residentBytes }) => residentBytes,
    ),
    iprisk_connections: each('Connections that a worker holds.', ({ connections }) => connections),
    iprisk_body_bytes: each(
      'Room that request bodies on their way hold in a worker.',
      ({ bodyBytes }) => bodyBytes,
    ),
    iprisk_worker_cpu_seconds_total: each(
      'User and system time of a worker since it started.',
      ({ cpuSeconds }) => cpuSeconds,
    ),
    iprisk_worker_loop_delay_max_seconds: each(
      'The longest that the event loop of a worker was held up in the last 15 to 30 seconds.',
      ({ loop }) => loop.delayMaxSeconds,
    ),
    iprisk_worker_loop_delay_p99_seconds: each(
      'The same of 99 of 100 looks.',
      ({ loop }) => loop.delayP99Seconds,
    ),
    iprisk_worker_loop_busy_seconds_total: each(
      'Time in which the event loop of a worker was not idle; its rate is the loop utilisation.',
      ({ loop }) => loop.busySeconds,
    ),
    iprisk_worker_open_fds: family(
      'Open file descriptors of a worker, each of its connections one; ' +
        'process_max_fds is its limit too.',
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
    iprisk_pool_threads: family('Threads of the pools; none until the first task.', now('threads')),
    iprisk_pool_requests: family('Insights and batches in the pools.', now('requests')),
    iprisk_pool_queue: family('Pieces of them that wait for a thread.', now('waiting')),
    iprisk_pool_refused_total: family('Requests refused by a full pool.', pool.refused),
    iprisk_pool_tasks_total: family('Round trips to threads.', pool.tasks),
    iprisk_pool_items_total: family('Pieces of requests in them.', pool.items),
    iprisk_pool_deaths_total: family('Threads that died and were replaced.', pool.deaths),
    iprisk_pool_wait_seconds_total: family(
      'From entering the line to the start in a thread, all pieces together.',
      pool.waitMs / 1000,
    ),
    iprisk_pool_run_seconds_total: family(
      'Time of threads with work, also while they wait for a core; ' +
        'its rate over iprisk_pool_threads is their utilisation.',
      pool.runMs / 1000,
    ),
  }
}

function sourceFamilies(source: TablePullStatus | undefined): MetricFamilies {
  const last = source?.last_pull ?? null
  return {
    iprisk_source_up: family(
      '1 while --table-url has nothing that is refused here or cannot be had.',
      source === undefined ? undefined : Number(source.up),
    ),
    iprisk_source_refusals_total: family(
      'Looks at --table-url that brought nothing that may be taken, by why.',
      ...by('reason', source?.refusals_by ?? {}),
    ),
    iprisk_source_last_success_timestamp_seconds: family(
      'When the manifest of --table-url was taken last, or was the same as before.',
      instant(source?.last_success_at),
    ),
    iprisk_source_pulled_bytes_total: family(
      'Bytes of parts that came from --table-url.',
      source?.pulled_bytes,
    ),
    iprisk_source_last_pull_duration_seconds: family(
      'From the manifest to the last table being whole on this machine.',
      last === null ? undefined : last.took_ms / 1000,
    ),
  }
}

/** Single checks only, for the dashboard "Login risk": a login checks one address. */
function verdictFamilies(total: CounterSnapshot): MetricFamilies {
  const { feedbackOverShare, feedbackNotKept } = counterTotals(total)
  return {
    iprisk_scores_total: family(
      'Single checks answered with 200, by the level of the score.',
      ['level'],
      levels.map((level, i) => [{ level }, total.scores[i] ?? 0]),
    ),
    iprisk_countries_total: family(
      'The same by country, empty where it is unknown, and level.',
      ['country', 'level'],
      byLevel('country', total.countries),
    ),
    iprisk_providers_total: family(
      'The same by the provider of the proxy or bot, where there is one, and level.',
      ['provider', 'level'],
      byLevel('provider', total.providers),
    ),
    iprisk_decisions_total: family(
      'Decisions on single checks without insights, by policy, rule (empty: none held) and action.',
      ['policy', 'rule', 'action'],
      Object.entries(total.decisions).map(([label, [count = 0]]) => [
        { ...readDecisionLabel(label) },
        count,
      ]),
    ),
    iprisk_observed_total: family(
      'Single checks without insights for which a rule that only observes held, by policy and rule.',
      ['policy', 'rule'],
      Object.entries(total.observed).map(([label, [count = 0]]) => {
        const { policy, rule } = readDecisionLabel(label)
        return [{ policy, rule }, count]
      }),
    ),
    iprisk_outcomes_total: family(
      'How addresses turned out, as callers reported it over HTTP.',
      ['outcome'],
      outcomeWords.map((outcome, i) => [{ outcome }, total.outcomes[i] ?? 0]),
    ),
    iprisk_feedback_refused_total: family(
      'Requests of feedback that were not kept: over_share (of its key), not_kept (no room, or the disk).',
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

/** By name. Counters, and nothing else, end in `_total`. */
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
