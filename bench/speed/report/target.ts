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
import type { BenchRun } from './kept-run.ts'

export interface Target {
  readonly title: string
  readonly must: number
  readonly reach: number
  /** Whether more is better. */
  readonly more: boolean
  readonly unit: string
  readonly measure: (run: BenchRun) => Figure
}

export const targetVerdicts = ['reached', 'met', 'MISSED', 'not measured'] as const
export type TargetVerdict = (typeof targetVerdicts)[number]

type Bounds = Pick<Target, 'must' | 'reach'>

function atMost(
  title: string,
  unit: string,
  bounds: Bounds & { readonly measure: Target['measure'] },
): Target {
  return { title, unit, more: false, ...bounds }
}

function atLeast(
  title: string,
  bounds: Bounds & { readonly measure: Target['measure']; readonly unit?: string },
): Target {
  return { title, unit: '×', more: true, ...bounds }
}

const overC = { subject: 'search', base: 'c-search' }
const overValue = { subject: 'libmaxminddb-value', base: 'search' }
const overLookup = { subject: 'libmaxminddb', base: 'search' }
const overText = { subject: 'maxmind', base: 'find' }
const overAnswer = { subject: 'maxmind', base: 'check' }

const lookupTargets: readonly Target[] = [
  ...(['uniform', 'dependent'] as const).flatMap((load) => [
    atMost(`IPv4 parsed → record, ${load}, against the same algorithm in C`, '×', {
      must: 1.3,
      reach: 1.1,
      measure: (run) => timesAsLong(run, `ipv4-${load}`, overC),
    }),
    atLeast(`the same, libmaxminddb with one value takes`, {
      must: 8,
      reach: 12,
      measure: (run) => timesAsLong(run, `ipv4-${load}`, overValue),
    }),
  ]),
  ...(['uniform', 'zipf'] as const).map((load) =>
    atLeast(`IPv4 text → record, ${load}: npm maxmind (default cache) takes`, {
      must: 10,
      reach: 12,
      measure: (run) => timesAsLong(run, `ipv4-${load}`, overText),
    }),
  ),
  atLeast('IPv6 parsed → record, uniform: libmaxminddb lookup takes', {
    must: 2.5,
    reach: 3.5,
    measure: (run) => timesAsLong(run, 'ipv6-uniform', overLookup),
  }),
  atLeast('IPv6 text → record, uniform: npm maxmind takes', {
    must: 10,
    reach: 12,
    measure: (run) => timesAsLong(run, 'ipv6-uniform', overText),
  }),
  atLeast('`table.check`, the whole answer: maxmind get takes', {
    must: 6,
    reach: 10,
    measure: (run) => timesAsLong(run, 'ipv4-uniform', overAnswer),
  }),
]

const httpTargets: readonly Target[] = [
  atLeast('HTTP check, everything on, against the bare constant answer', {
    must: 0.62,
    reach: 0.8,
    measure: (run) => rateAgainst(run, 'bare'),
  }),
  atLeast('the same against a server that makes its native calls and no more', {
    must: 0.88,
    reach: 0.93,
    measure: (run) => rateAgainst(run, 'calls'),
  }),
  atLeast('the same against nginx + geoip2 (on Intel Xeon 0.9 and 0.95)', {
    must: 1,
    reach: 1.1,
    measure: (run) => rateAgainst(run, 'nginx'),
  }),
  atLeast('the same against node:http + maxmind', {
    must: 3.2,
    reach: 4.5,
    measure: (run) => rateAgainst(run, 'node'),
  }),
  atMost('p99 at 60 % of our peak, open loop, against bare at 60 % of its own', '×', {
    must: 1.4,
    reach: 1.2,
    measure: (run) => {
      const own = steadyUs(run, 'iprisk', 'p99')
      const bare = alikeUs(run, 'p99')
      return own === undefined || bare === undefined ? undefined : own / bare
    },
  }),
  atMost('p99.9 at 8 connections', 'ms', {
    must: 1.5,
    reach: 0.8,
    measure: (run) => fewMs(run, 'iprisk', 'p999'),
  }),
  atMost(
    'garbage of our own code for a known key and a valid body, over 1 M requests',
    'bytes/req',
    {
      must: 1,
      reach: 1,
      measure: (run) => run.allocation?.ownBytesPerRequest,
    },
  ),
]

const sizeTargets: readonly Target[] = [
  atMost('private memory a worker', 'MB', { must: 60, reach: 40, measure: workerMb }),
  atMost("copies of the table's pages over all workers", '', {
    must: 1.02,
    reach: 1.02,
    measure: tableCopies,
  }),
  atMost('world build (city, ASN, all feeds, 60 days of history)', 's', {
    must: 30,
    reach: 20,
    measure: (run) => run.world?.seconds,
  }),
  atMost('the same, peak memory', 'GB', {
    must: 1.6,
    reach: 1.2,
    measure: (run) => (run.world === undefined ? undefined : run.world.peakBytes / 1e9),
  }),
  atMost('incremental build: the next day with what the day before kept, against whole', '×', {
    must: 0.3,
    reach: 0.15,
    measure: (run) => run.world?.nextDay?.ratio,
  }),
  atMost('table', 'MB', {
    must: 230,
    reach: 180,
    measure: (run) => {
      const bytes = run.world?.tableBytes ?? run.http?.table.bytes
      return bytes === undefined ? undefined : bytes / 1e6
    },
  }),
  ...([4, 6] as const).flatMap((family) =>
    (['uniform', 'dependent'] as const).flatMap((load) => [
      atMost(`IPv${family} lookup at 50 M ranges against 3.6 M of them, ${load}`, '×', {
        must: 1.5,
        reach: 1.3,
        measure: (run) => growthRatioThinned(run, family, load),
      }),
      atMost(`IPv${family} lookup at 50 M ranges against the real table, ${load}`, '×', {
        must: 1.6,
        reach: 1.3,
        measure: (run) => growthRatio(run, family, load),
      }),
    ]),
  ),
]

const poolTargets: readonly Target[] = [
  atMost('p99 of plain checks beside a full pool, 64 connections', 'ms', {
    must: 5,
    reach: 5,
    measure: (run) => pooled(run, 'mixed', 'p99Ms'),
  }),
  atLeast('their throughput, against the same without it', {
    must: 0.5,
    reach: 0.5,
    measure: (run) => {
      const mixed = pooled(run, 'mixed', 'requestsPerSecond')
      const alone = pooled(run, 'alone', 'requestsPerSecond')
      return mixed === undefined || alone === undefined ? undefined : mixed / alone
    },
  }),
  atLeast('batches in process', {
    unit: '/s',
    must: 400_000,
    reach: 400_000,
    measure: (run) => run.pool?.inProcess.addressesPerSecond,
  }),
  atLeast('batches over HTTP', {
    unit: '/s',
    must: 200_000,
    reach: 200_000,
    measure: (run) => run.pool?.batchAlone.addressesPerSecond,
  }),
  atMost('insights, p50, one client', 'ms', {
    must: 2,
    reach: 2,
    measure: (run) => run.pool?.insightsAlone.p50Ms,
  }),
  ...(['csv', 'json', 'text'] as const).map((format) =>
    atLeast(`command line, a file of addresses to ${format}`, {
      unit: '/s',
      must: 1_000_000,
      reach: 1_000_000,
      measure: (run) => bulkRate(run, `check --format ${format}`),
    }),
  ),
]

const startTargets: readonly Target[] = [
  atMost('start of `serve` with this table, to ready', 's', {
    must: 0.8,
    reach: 0.5,
    measure: (run) => (run.start === undefined ? undefined : run.start.serveMs / 1000),
  }),
  atMost("the library's open and first check in a cold process, beyond Node's own start", 'ms', {
    must: 80,
    reach: 50,
    measure: (run) => run.start?.libraryMs,
  }),
]

export const targets: readonly Target[] = [
  ...lookupTargets,
  ...httpTargets,
  ...poolTargets,
  ...sizeTargets,
  ...startTargets,
]

export function targetVerdict({ must, reach, more }: Target, measured: Figure): TargetVerdict {
  if (measured === undefined || Number.isNaN(measured)) return 'not measured'
  const holds = (bound: number): boolean => (more ? measured >= bound : measured <= bound)
  if (holds(reach)) return 'reached'
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
    const bounds = [bound(must), bound(reach)]
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
  const lines = [heads, heads.map(() => '---'), ...rows]
  return lines.map((cells, i) => (i === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`))
}
