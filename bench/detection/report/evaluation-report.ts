// The kept evaluation as a page of Markdown, docs/evaluation/REPORT.md: the newest run, and what
// each run before it changed. Every figure comes from the run; the same run gives the same bytes.

import { leftOutKinds, type DetectedShares, type LeftOut } from '../evaluation/leave-one-out.ts'
import type { RecentRow } from '../evaluation/leave-last-days-out.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'
import { formatDay } from '../../../src/base/day.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import { type EvaluationSummary, type KeptEvaluation, summaryOf } from './kept-evaluation.ts'

export const reportName = 'REPORT.md'

type Without = 'withoutFeed' | 'withoutGroup'

export function evaluationReport(run: KeptEvaluation): string {
  const steps = [...run.earlier, summaryOf(run)]
  return [
    '# Evaluation',
    'How well does a table judge lists whose truth is known, and what has each change of the ' +
      'detection brought? Written by `npm run bench -- evaluate --report` from `newest.json` beside ' +
      'it, which `npm run bench -- evaluate --cross --mirror FOLDER --keep NAME --title TEXT` ' +
      'makes; not by hand.',
    `Measured on ${run.machine.cpu}, ${run.machine.cores} cores, Node ${run.machine.node}, ` +
      `${run.at.slice(0, 10)}.`,
    '## What each step changed',
    stepTable(steps),
    'Signal and flagged are those of "Leave one out", without group. Figures that no step changed ' +
      'are left out.',
    changeTable(steps),
    '## Leave one out, by kind',
    'Each feed of a kind says nothing in turn, and with it every feed of its group; what do the ' +
      'others still say of its current entries? *Signal* is the kind’s own (of proxies of both ' +
      'kinds either), *flagged* any of VPN, Tor, proxy and hosting. Entries of all feeds of the ' +
      'kind together; intervals at 95 % (Wilson).',
    kindTable(run),
    'vpn, tor, proxy and residential_proxy come from no network and no tag, whatever the weights: ' +
      'their signal without a list is bound to be low, and *flagged* and *≥ 25* say what is left.',
    '## False alarms',
    'The space of people’s own lines at these scores, by sum of sizes, every feed speaking.',
    alarmTable(run),
    '## The space that is named',
    'Addresses with a kind’s signal, every feed speaking; the part in access networks is what range ' +
      'lists of operators and single addresses name there.',
    spaceTable(run),
    '## The last days',
    recentText(run),
    '## Leave one out, by feed',
    'Without the feed’s whole group: signal, and what an operator who asks from 25 or blocks from ' +
      '50 would see.',
    feedTable(run),
    '',
  ].join('\n\n')
}

function stepTable(steps: readonly EvaluationSummary[]): string {
  const rows = steps.map(({ name, title, at }) => [name, title, at.slice(0, 10)])
  return markdownTable(['run', 'what is new in it', 'measured'], rows, 3).join('\n')
}

/** Each figure over the runs, where two runs differ in what is printed. */
function changeTable(steps: readonly EvaluationSummary[]): string {
  const rowOf = (what: string, figure: (run: EvaluationSummary) => string): readonly string[] => [
    what,
    ...steps.map(figure),
  ]
  const kinds = leftOutKinds.flatMap((kind) =>
    (['signal', 'flagged'] as const).map((what) =>
      rowOf(`${kind}, ${what}`, (run) => {
        const row = run.kinds.find((one) => one.kind === kind)
        return row === undefined || row.entries === 0 ? '' : percent(row[what] / row.entries)
      }),
    ),
  )
  const spaces = signalKinds.map((kind) =>
    rowOf(`${signalName(kind)}, IPv4 addresses with the signal`, ({ signals }) =>
      formatCount(Math.round(signals.find((one) => one.kind === kind)?.ipv4 ?? 0)),
    ),
  )
  const alarms = ([4, 6] as const).map((family) =>
    rowOf(`access networks, IPv${family}, score ≥ 25`, ({ access }) =>
      fine(access[family].fromAsk / access[family].total),
    ),
  )
  const changed = [...kinds, ...spaces, ...alarms].filter(
    ([, ...figures]) => new Set(figures).size > 1,
  )
  return markdownTable(['figure', ...steps.map(({ name }) => name)], changed).join('\n')
}

function kindTable({ leaveOneOut }: KeptEvaluation): string {
  const rows = leftOutKinds.flatMap((kind) => {
    const feeds = leaveOneOut.filter((row) => row.kind === kind)
    const entries = feeds.reduce((sum, row) => sum + row.entries, 0)
    if (entries === 0) return []
    return [
      [
        kind,
        formatCount(entries),
        pooled(feeds, 'withoutFeed', 'signal'),
        pooled(feeds, 'withoutGroup', 'signal'),
        pooled(feeds, 'withoutGroup', 'flagged'),
        pooled(feeds, 'withoutGroup', 'fromAsk'),
        pooled(feeds, 'withoutGroup', 'fromBlock'),
      ],
    ]
  })
  const heads = 'kind|entries|signal, without feed|signal, without group|flagged|≥ 25|≥ 50'
  return markdownTable(heads.split('|'), rows).join('\n')
}

/** Feeds of a kind as one list: an entry that two of them have counts in both. */
function pooled(rows: readonly LeftOut[], without: Without, what: keyof DetectedShares): string {
  const entries = rows.reduce((sum, row) => sum + row.entries, 0)
  const hits = rows.reduce((sum, row) => sum + row.entries * row[without][what].share, 0)
  return interval(wilsonShare(hits, entries))
}

function alarmTable({ access }: KeptEvaluation): string {
  const families = [
    [4, 'IPv4 addresses'],
    [6, 'IPv6 /64s'],
  ] as const
  const rows = families.map(([family, name]) => {
    const { total, fromAsk, fromBlock } = access[family]
    return [name, formatCount(Math.round(total)), fine(fromAsk / total), fine(fromBlock / total)]
  })
  return markdownTable(['access networks', 'size', 'score ≥ 25', 'score ≥ 50'], rows).join('\n')
}

/** A proxy's signal is either of both kinds, so that the two would be the same rows. */
const signalKinds = leftOutKinds.filter((kind) => kind !== 'residential_proxy')

function signalName(kind: Kind): string {
  return kind === 'proxy' ? 'proxy of either kind' : kind
}

function spaceTable({ signals }: KeptEvaluation): string {
  const rows = signalKinds.flatMap((kind) =>
    signals
      .filter((row) => row.kind === kind)
      .map(({ ipv4, ipv4InAccess, ipv6_64s }) => [
        signalName(kind),
        ...[ipv4, ipv4InAccess, ipv6_64s].map((size) => formatCount(Math.round(size))),
      ]),
  )
  const heads = ['signal', 'IPv4 addresses', 'of them in access networks', 'IPv6 /64s']
  return markdownTable(heads, rows).join('\n')
}

function recentText({ recent }: KeptEvaluation): string {
  if (recent === undefined) return 'No feed has a history.'
  const rows = recent.rows.map((row) => [
    row.feed,
    row.kind,
    formatCount(row.begun),
    ...[row.flagged, row.signal].map(interval),
    percent(row.fromBlock.share),
    ...aroundCells(row),
  ])
  const heads =
    'feed|kind|begun|flagged|signal|≥ 50|in a listed /24|such /24s, of space|new per 1000 of them|' +
    'in a listed AS|such ASes, of space'
  return [
    `Entries that a feed began to list after ${formatDay(recent.before)}, up to ` +
      `${formatDay(recent.asOf)}, and what the world of ${formatDay(recent.before)} said of them. ` +
      'The columns on the right say what belief in neighbours would have found, and why there is ' +
      'none: so many new entries for each thousand addresses of the /24s in which the kind was ' +
      'listed already.',
    markdownTable(heads.split('|'), rows, 2).join('\n'),
    recent.leftOut.length === 0
      ? 'No feed is left out of that world.'
      : `Left out of that world because they have no history: ${recent.leftOut.join(', ')}.`,
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

function feedTable({ leaveOneOut }: KeptEvaluation): string {
  const rows = leaveOneOut.map(({ feed, kind, entries, withoutGroup }) => [
    feed,
    kind,
    formatCount(entries),
    interval(withoutGroup.signal),
    percent(withoutGroup.flagged.share),
    percent(withoutGroup.fromAsk.share),
    percent(withoutGroup.fromBlock.share),
  ])
  const heads = ['feed', 'kind', 'entries', 'signal', 'flagged', '≥ 25', '≥ 50']
  return markdownTable(heads, rows, 2).join('\n')
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
