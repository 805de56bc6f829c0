// An evaluation as it is kept in docs/evaluation and as it is printed: one table, a row for each
// list, feed or operator. What has no place in the table (classes, bands of the score, signals,
// neighbours, earlier runs) is in the JSON.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import type { RunHead } from '../../harness/run.ts'
import type { SignalSpace } from '../calibration/weight-effect.ts'
import type { Evaluation } from '../evaluation/labelled-lists.ts'
import type { ListedRow, RecentEvaluation } from '../evaluation/leave-last-days-out.ts'
import { type DetectedShares, type LeftOut, leftOutKinds } from '../evaluation/leave-one-out.ts'
import type { OperatorsLeftOut } from '../evaluation/leave-operator-out.ts'
import type { ClassSpace, LikelihoodRatio, ScoreBand } from '../evaluation/score-bands.ts'
import type { AccessSpace } from '../world/address-space.ts'
import { evaluationSummary } from './evaluation-summary.ts'
import { interval, percent, readKept, writeKept } from './kept-result.ts'

export const evaluationFolder = join(packageRoot, 'docs', 'evaluation')

/** What one evaluation of a world found. */
export interface CrossEvaluation {
  /** False alarms of the world, every feed speaking. */
  readonly access: AccessSpace
  readonly signals: readonly SignalSpace[]
  readonly leaveOneOut: readonly LeftOut[]
  readonly operators: OperatorsLeftOut
  readonly bands: readonly ScoreBand[]
  /** Of each band, against people's lines. */
  readonly ratios: readonly LikelihoodRatio[]
  readonly classes: ClassSpace
  /** `undefined` where no feed has a history. */
  readonly recent: RecentEvaluation | undefined
  /** What feeds with a history named the day before. Absent in runs before it was measured. */
  readonly dayBefore?: readonly ListedRow[]
  /** A month without a build. Absent in runs before it was measured. */
  readonly aged?: RecentEvaluation
}

/** Over all feeds of a kind: what the others still say of its entries without the feed's group. */
export interface KindSummary {
  readonly kind: Kind
  readonly entries: number
  /** Entries, by shares of their addresses. */
  readonly signal: number
  readonly flagged: number
}

/** What stays of a run when a newer one takes its place. */
export interface EvaluationSummary extends Pick<CrossEvaluation, 'access' | 'signals'> {
  readonly name: string
  /** What was new in it, one phrase. */
  readonly title: string
  readonly at: string
  readonly kinds: readonly KindSummary[]
}

export interface KeptEvaluation extends RunHead, CrossEvaluation {
  readonly name: string
  readonly title: string
  /** The runs before, the oldest first. */
  readonly earlier: readonly EvaluationSummary[]
}

export function summaryOf(run: KeptEvaluation): EvaluationSummary {
  const { name, title, at, access, signals, leaveOneOut } = run
  const kinds = leftOutKinds.map((kind): KindSummary => {
    const rows = leaveOneOut.filter((row) => row.kind === kind)
    return {
      kind,
      entries: rows.reduce((sum, { entries }) => sum + entries, 0),
      signal: hitsOf(rows, 'signal'),
      flagged: hitsOf(rows, 'flagged'),
    }
  })
  return { name, title, at, access, signals, kinds }
}

/** Feeds of a kind as one list: an entry that two of them have counts in both. */
function hitsOf(rows: readonly LeftOut[], what: keyof DetectedShares): number {
  return rows.reduce((sum, row) => sum + row.entries * row.withoutGroup[what].share, 0)
}

/** Keeps the run in the place of the one before, of which a summary stays. */
export function saveEvaluation(folder: string, run: Omit<KeptEvaluation, 'earlier'>): void {
  const before = existsSync(join(folder, 'newest.json')) ? readEvaluation(folder) : undefined
  const summaries = before === undefined ? [] : [...before.earlier, summaryOf(before)]
  const earlier = summaries.filter(({ name }) => name !== run.name)
  const kept = writeKept(folder, { ...run, earlier }) as KeptEvaluation
  writeFileSync(join(folder, 'REPORT.md'), evaluationPage(kept))
}

/** Throws `usage` where none is kept. */
export function readEvaluation(folder: string): KeptEvaluation {
  return readKept(folder) as KeptEvaluation
}

export function evaluationPage(run: KeptEvaluation): string {
  const { machine, at } = run
  return [
    '# Evaluation',
    ...evaluationSummary(run),
    '## Every list',
    'Written by `npm run bench -- evaluate --cross --mirror FOLDER --keep NAME --title TEXT`, together ' +
      'with `newest.json`, which also has the bands of the score, the classes and the runs before.',
    `Measured on ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${at.slice(0, 10)}.`,
    '*Signal* is the kind’s own (of proxies of both kinds either), *flagged* any of VPN, Tor, proxy ' +
      'and hosting; an operator asks from 25 and blocks from 50. Intervals at 95 % (Wilson). Without ' +
      'a list vpn, tor, proxy and residential_proxy come from no network and no tag, so their signal ' +
      'is low by nature. The hand-kept tables of operators were written by people who know these ' +
      'operators: no row is of a list that nobody has seen. Scores in access networks are false alarms.',
    markdownTable(resultTitles, crossRows(run), 2).join('\n'),
    '',
  ].join('\n\n')
}

export const resultTitles = ['left out', 'of', 'entries', 'signal', 'flagged', '≥ 25', '≥ 50']

export function crossRows(run: CrossEvaluation): readonly (readonly string[])[] {
  const { leaveOneOut, operators, recent, access, dayBefore = [], aged, classes } = run
  const kinds = leftOutKinds.flatMap((kind) => {
    const rows = leaveOneOut.filter((row) => row.kind === kind)
    const entries = rows.reduce((sum, row) => sum + row.entries, 0)
    const share = (what: keyof DetectedShares) => wilsonShare(hitsOf(rows, what), entries)
    const pooled = each(share)
    return entries === 0 ? [] : [resultRow('each feed and its group', kind, entries, pooled)]
  })
  return [
    ...kinds,
    ...leaveOneOut.map(({ feed, entries, withoutGroup }) =>
      resultRow('the feed and its group', feed, entries, withoutGroup),
    ),
    ...operators.operators.map(({ operator, entries, unknown }) =>
      resultRow('the VPN operator', operator, entries, unknown),
    ),
    resultRow('the VPN operator', 'pooled', operators.pooled.entries, operators.pooled.unknown),
    ...(recent?.rows ?? []).map((row) => resultRow('the last days', row.feed, row.begun, row)),
    ...listedRowsOf('nothing: named the day before', dayBefore),
    ...listedRowsOf('the last 31 days: all that is listed', aged?.listed ?? []),
    ...accessRows(access),
    ...Object.entries(classes.lines ?? {}).flatMap(([type, lines]) =>
      accessRows(lines, `of these, type ${type}`),
    ),
    ...(classes.eyeballs === undefined
      ? []
      : accessRows(classes.eyeballs, 'networks of class Eyeball')),
  ]
}

function listedRowsOf(leftOut: string, rows: readonly ListedRow[]): readonly (readonly string[])[] {
  return rows.map((row) => resultRow(leftOut, `${row.feed}, IPv${row.family}`, row.listed, row))
}

function each(share: (what: keyof DetectedShares) => WilsonShare): DetectedShares {
  return {
    signal: share('signal'),
    flagged: share('flagged'),
    fromAsk: share('fromAsk'),
    fromBlock: share('fromBlock'),
  }
}

export function labelledRow(one: Evaluation & { readonly file: string }): readonly string[] {
  const { file, label, entries, recall, fromAsk, fromBlock } = one
  return resultRow('nothing', `${file}: ${label}`, entries, { signal: recall, fromAsk, fromBlock })
}

/** Of people's own lines, by sum of sizes. */
export function accessRows(
  access: AccessSpace,
  whose = 'access networks',
): readonly (readonly string[])[] {
  return ([4, 6] as const).map((family) => {
    const { total, fromAsk, fromBlock } = access[family]
    const name = `${whose}, ${family === 4 ? 'IPv4 addresses' : 'IPv6 /64s'}`
    const shares = [percent(fromAsk / total, 4), percent(fromBlock / total, 4)]
    return ['nothing', name, formatCount(Math.round(total)), '', '', ...shares]
  })
}

function resultRow(
  leftOut: string,
  of: string,
  entries: number,
  shares: Partial<DetectedShares>,
): readonly string[] {
  const { signal, flagged, fromAsk, fromBlock } = shares
  const cells = [signal, flagged, fromAsk, fromBlock].map((one) =>
    one === undefined ? '' : interval(one),
  )
  return [leftOut, of, formatCount(entries), ...cells]
}
