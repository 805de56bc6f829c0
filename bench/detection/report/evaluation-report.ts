// The kept evaluations as a page of Markdown, docs/evaluation/REPORT.md: the first beside the last,
// and what each step between them changed. Every figure comes from the runs; the same runs give the
// same bytes.

import { leftOutKinds, type DetectedShares, type LeftOut } from '../evaluation/leave-one-out.ts'
import type { RecentRow } from '../evaluation/leave-last-days-out.ts'
import { type WilsonShare, wilsonShare } from '../evaluation/wilson.ts'
import { formatDay } from '../../../src/base/day.ts'
import { formatCount } from '../../../src/base/number-format.ts'
import type { KeptEvaluation } from './kept-evaluation.ts'

export const reportName = 'REPORT.md'

type Without = 'withoutFeed' | 'withoutGroup'

export function evaluationReport(runs: readonly KeptEvaluation[]): string {
  const first = runs[0] as KeptEvaluation
  const last = runs.at(-1) as KeptEvaluation
  return [
    '# Evaluation',
    'What the detection finds, before and after. Written by `npm run bench -- evaluate --report` from the ' +
      'JSON files beside it, each made by `npm run bench -- evaluate --cross --mirror FOLDER --keep NAME ' +
      '--title TEXT`; not by hand.',
    runTable(runs),
    '## Leave one out, by kind',
    'Each feed of a kind says nothing in turn, and with it every feed of its group; what do the ' +
      'others still say of its current entries? *Signal* is the kind’s own (of proxies of both ' +
      'kinds either), *flagged* any of VPN, Tor, proxy and hosting. Entries of all feeds of the ' +
      'kind together; intervals at 95 % (Wilson).',
    kindTable(runs),
    'vpn, tor, proxy and residential_proxy come from no network and no tag, whatever the weights: ' +
      'their signal without a list is bound to be low, and *flagged* and *≥ 25* say what is left.',
    '## False alarms',
    'The space of people’s own lines at these scores, by sum of sizes, every feed speaking.',
    alarmTable(runs),
    '## The space that is named',
    'Addresses with a kind’s signal, every feed speaking; the part in access networks is what range ' +
      'lists of operators and single addresses name there.',
    spaceTable(runs),
    '## The last days',
    recentText(first, last),
    '## Leave one out, by feed',
    'Without the feed’s whole group: signal, and what an operator who asks from 25 or blocks from ' +
      '50 would see.',
    feedTable(first, last),
    '',
  ].join('\n\n')
}

function runTable(runs: readonly KeptEvaluation[]): string {
  const lines = runs.map(
    ({ name, title, at, machine }) =>
      `| ${name} | ${title} | ${at.slice(0, 10)} | ${machine.cpu}, ${machine.cores} cores, Node ${machine.node} |`,
  )
  return ['| run | what is new in it | measured | machine |', '|---|---|---|---|', ...lines].join(
    '\n',
  )
}

function kindTable(runs: readonly KeptEvaluation[]): string {
  const lines = leftOutKinds.flatMap((kind) =>
    runs.flatMap((run) => {
      const rows = run.leaveOneOut.filter((row) => row.kind === kind)
      const entries = rows.reduce((sum, row) => sum + row.entries, 0)
      if (entries === 0) return []
      const cells = [
        kind,
        run.name,
        formatCount(entries),
        pooled(rows, 'withoutFeed', 'signal'),
        pooled(rows, 'withoutGroup', 'signal'),
        pooled(rows, 'withoutGroup', 'flagged'),
        pooled(rows, 'withoutGroup', 'fromAsk'),
        pooled(rows, 'withoutGroup', 'fromBlock'),
      ]
      return [`| ${cells.join(' | ')} |`]
    }),
  )
  return [
    '| kind | run | entries | signal, without feed | signal, without group | flagged | ≥ 25 | ≥ 50 |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...lines,
  ].join('\n')
}

/** Feeds of a kind as one list: an entry that two of them have counts in both. */
function pooled(rows: readonly LeftOut[], without: Without, what: keyof DetectedShares): string {
  const entries = rows.reduce((sum, row) => sum + row.entries, 0)
  const hits = rows.reduce((sum, row) => sum + row.entries * row[without][what].share, 0)
  return interval(wilsonShare(hits, entries))
}

function alarmTable(runs: readonly KeptEvaluation[]): string {
  const families = [
    [4, 'IPv4 addresses'],
    [6, 'IPv6 /64s'],
  ] as const
  const lines = families.flatMap(([family, name]) =>
    runs.map((run) => {
      const { total, fromAsk, fromBlock } = run.access[family]
      const cells = [formatCount(Math.round(total)), fine(fromAsk / total), fine(fromBlock / total)]
      return `| ${[name, run.name, ...cells].join(' | ')} |`
    }),
  )
  return [
    '| access networks | run | size | score ≥ 25 | score ≥ 50 |',
    '|---|---|--:|--:|--:|',
    ...lines,
  ].join('\n')
}

/** A proxy's signal is either of both kinds, so that the two would be the same rows. */
function spaceTable(runs: readonly KeptEvaluation[]): string {
  const kinds = leftOutKinds.filter((kind) => kind !== 'residential_proxy')
  const lines = kinds.flatMap((kind) =>
    runs.flatMap(({ name, signals }) =>
      signals
        .filter((row) => row.kind === kind)
        .map(({ ipv4, ipv4InAccess, ipv6_64s }) => {
          const cells = [ipv4, ipv4InAccess, ipv6_64s].map((size) => formatCount(Math.round(size)))
          const signal = kind === 'proxy' ? 'proxy of either kind' : kind
          return `| ${[signal, name, ...cells].join(' | ')} |`
        }),
    ),
  )
  return [
    '| signal | run | IPv4 addresses | of them in access networks | IPv6 /64s |',
    '|---|---|--:|--:|--:|',
    ...lines,
  ].join('\n')
}

function recentText(first: KeptEvaluation, last: KeptEvaluation): string {
  const { recent } = last
  if (recent === undefined) return 'No feed has a history.'
  const lines = recent.rows.map((row) => {
    const before = first.recent?.rows.find(({ feed }) => feed === row.feed)
    const cells = [
      row.feed,
      row.kind,
      formatCount(row.begun),
      before === undefined ? '' : percent(before.flagged.share),
      ...[row.flagged, row.signal].map(interval),
      percent(row.fromBlock.share),
      ...aroundCells(row),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `Entries that a feed began to list after ${formatDay(recent.before)}, up to ` +
      `${formatDay(recent.asOf)}, and what the world of ${formatDay(recent.before)} said of them. ` +
      'The columns on the right say what belief in neighbours would have found, and why there is ' +
      'none: so many new entries for each thousand addresses of the /24s in which the kind was ' +
      'listed already.',
    [
      '| feed | kind | begun | flagged, first run | flagged, last run | signal | ≥ 50 | in a listed /24 ' +
        '| such /24s, of space | new per 1000 of them | in a listed AS | such ASes, of space |',
      '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
      ...lines,
    ].join('\n'),
    recent.leftOut.length === 0
      ? 'No feed is left out of that world.'
      : `Left out of that world, for want of a history: ${recent.leftOut.join(', ')}.`,
  ].join('\n\n')
}

function aroundCells(row: RecentRow): readonly string[] {
  return [
    percent(row.neighbour.share),
    fine(row.neighbourSpace),
    row.perThousand.toFixed(2),
    percent(row.network.share),
    percent(row.networkSpace),
  ]
}

function feedTable(first: KeptEvaluation, last: KeptEvaluation): string {
  const lines = last.leaveOneOut.map((row) => {
    const before = first.leaveOneOut.find(({ feed }) => feed === row.feed)
    const cells = [
      row.feed,
      row.kind,
      formatCount(row.entries),
      ...[before?.withoutGroup, row.withoutGroup].flatMap((found) =>
        found === undefined
          ? ['', '', '', '']
          : [
              interval(found.signal),
              percent(found.flagged.share),
              percent(found.fromAsk.share),
              percent(found.fromBlock.share),
            ],
      ),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| feed | kind | entries | first run: signal | flagged | ≥ 25 | ≥ 50 | last run: signal | flagged ' +
      '| ≥ 25 | ≥ 50 |',
    '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines,
  ].join('\n')
}

function interval({ share, low, high }: WilsonShare): string {
  return `${percent(share)} (${percent(low)}–${percent(high)})`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

/** Four decimals of a percent: false alarms are counted in millionths. */
function fine(share: number): string {
  return `${(100 * share).toFixed(4)} %`
}
