// The targets and what a run says to each: a row, a bound that must hold, one to reach for, and the
// figure out of the raw data. The verdict is computed, never typed.

import {
  type Figure,
  alikeUs,
  bulkRate,
  fewMs,
  growthRatio,
  growthRatioThinned,
  pooled,
  rateAgainst,
  figureText,
  steadyUs,
  tableCopies,
  timesAsLong,
  workerMb,
} from './figure.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import type { BenchRun } from './kept-run.ts'

export interface Target {
  readonly title: string
  readonly must: number
  /** `undefined` where the target is closed: its bound is a floor that must not fall, no goal. */
  readonly reach: number | undefined
  /** Whether more is better. */
  readonly more: boolean
  readonly unit: string
  readonly measure: (run: BenchRun) => Figure
}

export const targetVerdicts = ['reached', 'met', 'MISSED', 'not measured'] as const
export type TargetVerdict = (typeof targetVerdicts)[number]

/** What must hold and what to reach for; the former alone where the target is closed. */
type Bounds = readonly [must: number, reach?: number]

function atMost(
  title: string,
  unit: string,
  [must, reach]: Bounds,
  measure: Target['measure'],
): Target {
  return { title, unit, more: false, must, reach, measure }
}

function atLeast(title: string, unit: string, bounds: Bounds, measure: Target['measure']): Target {
  return { ...atMost(title, unit, bounds, measure), more: true }
}

const overC = { subject: 'search', base: 'c-search' }
const overValue = { subject: 'libmaxminddb-value', base: 'search' }
const overLookup = { subject: 'libmaxminddb', base: 'search' }
const overText = { subject: 'maxmind', base: 'find' }
const overAnswer = { subject: 'maxmind', base: 'check' }

const lookupTargets: readonly Target[] = [
  ...(['uniform', 'dependent'] as const).flatMap((load) => [
    atMost(
      `IPv4 parsed → record, ${load}, against the same algorithm in C`,
      '×',
      [1.3, 1.1],
      (run) => timesAsLong(run, `ipv4-${load}`, overC),
    ),
    atLeast(`the same, libmaxminddb with one value takes`, '×', [8, 12], (run) =>
      timesAsLong(run, `ipv4-${load}`, overValue),
    ),
  ]),
  ...(['uniform', 'zipf'] as const).map((load) =>
    atLeast(
      `IPv4 text → record, ${load}: npm maxmind (default cache) takes`,
      '×',
      [10, 12],
      (run) => timesAsLong(run, `ipv4-${load}`, overText),
    ),
  ),
  atLeast('IPv6 parsed → record, uniform: libmaxminddb lookup takes', '×', [2.5, 3.5], (run) =>
    timesAsLong(run, 'ipv6-uniform', overLookup),
  ),
  atLeast('IPv6 text → record, uniform: npm maxmind takes', '×', [10, 12], (run) =>
    timesAsLong(run, 'ipv6-uniform', overText),
  ),
  atLeast('`table.check`, the whole answer: maxmind get takes', '×', [6, 10], (run) =>
    timesAsLong(run, 'ipv4-uniform', overAnswer),
  ),
]

const httpTargets: readonly Target[] = [
  atLeast('HTTP check, everything on, against the bare constant answer', '×', [0.62, 0.8], (run) =>
    rateAgainst(run, 'bare'),
  ),
  atLeast('the same against a server that makes its native calls and no more', '×', [0.75], (run) =>
    rateAgainst(run, 'calls'),
  ),
  atLeast('the same against nginx + geoip2', '×', [0.85], (run) => rateAgainst(run, 'nginx')),
  atLeast('the same against node:http + maxmind', '×', [3.2, 4.5], (run) =>
    rateAgainst(run, 'node'),
  ),
  atMost(
    'p99 at 60 % of our peak, open loop, against bare at 60 % of its own',
    '×',
    [1.4, 1.2],
    (run) => {
      const own = steadyUs(run, 'iprisk', 'p99')
      const bare = alikeUs(run, 'p99')
      return own === undefined || bare === undefined ? undefined : own / bare
    },
  ),
  atMost('p99.9 at 8 connections', 'ms', [1.5, 0.8], (run) => fewMs(run, 'iprisk', 'p999')),
  atMost(
    'garbage of our own code for a known key and a valid body, over 1 M requests',
    'bytes/req',
    [1, 1],
    (run) => run.allocation?.ownBytesPerRequest,
  ),
]

const sizeTargets: readonly Target[] = [
  atMost('private memory a worker', 'MB', [60, 40], workerMb),
  atMost("copies of the table's pages over all workers", '', [1.02, 1.02], tableCopies),
  atMost(
    'world build (city, ASN, all feeds, 60 days of history)',
    's',
    [30, 20],
    (run) => run.world?.seconds,
  ),
  atMost('the same, peak memory', 'GB', [1.6, 1.2], (run) =>
    run.world === undefined ? undefined : run.world.peakBytes / 1e9,
  ),
  atMost(
    'incremental build: the next day with what the day before kept, against whole',
    '×',
    [0.85],
    (run) => run.world?.nextDay?.ratio,
  ),
  atMost('table', 'MB', [230, 180], (run) => {
    const bytes = run.world?.tableBytes ?? run.http?.table.bytes
    return bytes === undefined ? undefined : bytes / 1e6
  }),
  ...([4, 6] as const).flatMap((family) =>
    (['uniform', 'dependent'] as const).flatMap((load) => [
      atMost(
        `IPv${family} lookup at 50 M ranges against 3.6 M of them, ${load}`,
        '×',
        [1.5, 1.3],
        (run) => growthRatioThinned(run, family, load),
      ),
      atMost(
        `IPv${family} lookup at 50 M ranges against the real table, ${load}`,
        '×',
        [1.6, 1.3],
        (run) => growthRatio(run, family, load),
      ),
    ]),
  ),
]

const gateAgainst = (server: string) => (run: BenchRun) =>
  run.gate?.servers.find((one) => one.server === server)?.gateOverIt

const gateTargets: readonly Target[] = [
  atLeast(
    'the gate, against bare uWebSockets.js with its headers',
    '×',
    [0.85, 0.85],
    gateAgainst('bare'),
  ),
  atLeast('the same against nginx + geoip2', '×', [0.75, 0.85], gateAgainst('nginx')),
]

const poolTargets: readonly Target[] = [
  atMost('p99 of plain checks beside a full pool, 64 connections', 'ms', [5, 5], (run) =>
    pooled(run, 'mixed', 'p99Ms'),
  ),
  atLeast('their throughput, against the same without it', '×', [0.5, 0.5], (run) => {
    const mixed = pooled(run, 'mixed', 'requestsPerSecond')
    const alone = pooled(run, 'alone', 'requestsPerSecond')
    return mixed === undefined || alone === undefined ? undefined : mixed / alone
  }),
  atLeast(
    'batches in process',
    '/s',
    [400_000, 400_000],
    (run) => run.pool?.inProcess.addressesPerSecond,
  ),
  atLeast(
    'batches over HTTP',
    '/s',
    [200_000, 200_000],
    (run) => run.pool?.batchAlone.addressesPerSecond,
  ),
  atMost('insights, p50, one client', 'ms', [2, 2], (run) => run.pool?.insightsAlone.p50Ms),
  ...(['csv', 'json', 'text'] as const).map((format) =>
    atLeast(`command line, a file of addresses to ${format}`, '/s', [1_000_000, 1_000_000], (run) =>
      bulkRate(run, `check --format ${format}`),
    ),
  ),
]

const startTargets: readonly Target[] = [
  atMost('start of `serve` with this table, to ready', 's', [1], (run) =>
    run.start === undefined ? undefined : run.start.serveMs / 1000,
  ),
  atMost(
    "the library's open and first check in a cold process, beyond Node's own start",
    'ms',
    [80, 50],
    (run) => run.start?.libraryMs,
  ),
]

export const targets: readonly Target[] = [
  ...lookupTargets,
  ...httpTargets,
  ...gateTargets,
  ...poolTargets,
  ...sizeTargets,
  ...startTargets,
]

export function targetVerdict({ must, reach, more }: Target, measured: Figure): TargetVerdict {
  if (measured === undefined || Number.isNaN(measured)) return 'not measured'
  const holds = (bound: number): boolean => (more ? measured >= bound : measured <= bound)
  if (reach !== undefined && holds(reach)) return 'reached'
  return holds(must) ? 'met' : 'MISSED'
}

/**
 * The table of targets as Markdown; what runs on other machines say to each stands to the right.
 */
export function targetTable(run: BenchRun, elsewhere: readonly BenchRun[] = []): readonly string[] {
  const rows = targets.map((target) => {
    const { title, must, reach, more, unit } = target
    const bound = (value: number): string => `${more ? '≥' : '≤'} ${value} ${unit}`.trimEnd()
    const measured = target.measure(run)
    const others = elsewhere.map((other) => {
      const figure = target.measure(other)
      const verdict = targetVerdict(target, figure)
      return figure === undefined ? verdict : `${figureText(figure, unit)}, ${verdict}`
    })
    const bounds = [bound(must), reach === undefined ? 'closed' : bound(reach)]
    return [
      title,
      ...bounds,
      figureText(measured, unit),
      targetVerdict(target, measured),
      ...others,
    ]
  })
  const others = elsewhere.map(({ all: { machine, at } }) => `${machine.cpu}, ${at.slice(0, 10)}`)
  const heads = ['target', 'must', 'reach for', 'measured', 'verdict', ...others]
  return markdownTable(heads, rows, heads.length)
}
