// What is found while operators' lists say nothing, in lines for people: each VPN operator left
// out, badness by band of the score, and the space by class. Figures come from
// bench/detection/evaluation.

import { alignColumns } from '../../../src/base/text/align-columns.ts'
import type { OperatorLeftOut, OperatorsLeftOut } from '../evaluation/leave-operator-out.ts'
import type { DetectedShares } from '../evaluation/leave-one-out.ts'
import {
  type ClassSpace,
  type LikelihoodRatio,
  type ScoreBand,
  levelBands,
  likelihoodRatios,
} from '../evaluation/score-bands.ts'
import type { WilsonShare } from '../../../src/feedback/wilson-share.ts'
import { spaceLines } from './evaluation-text.ts'
import type { AccessSpace } from '../world/address-space.ts'

export interface HeldOutEvaluation {
  readonly access: AccessSpace
  readonly operators: OperatorsLeftOut
  readonly bands: readonly ScoreBand[]
  readonly classes: ClassSpace
}

export const heldOutName = 'HELD-OUT.md'

/** The same as a page, docs/evaluation/HELD-OUT.md. */
export function heldOutPage(held: HeldOutEvaluation): string {
  return [
    '# Held out',
    'What does a table say of VPN operators that no list names, and does the score order badness? Written by `npm run bench -- ' +
      'evaluate --operators --report --mirror FOLDER`; not by hand.',
    'Each operator’s lists, the single addresses of lists that copy operators, its neighbourhoods and its rows of the hand-kept ' +
      'table are left out in turn; the columns on the right keep its rows, for the table names operators that have no feed. ' +
      'Intervals at 95 % (Wilson). The hand-kept tables were written by people who know these operators: no figure ' +
      'here is of a list that nobody has seen.',
    'A band’s badness is the number of addresses that left-out lists of exits name (VPN, Tor, proxies), per million IPv4 ' +
      'addresses with such a score. It rises from level to level. Inside 0 to 49 it does not, for that is a share of the space and ' +
      'not of traffic: the rules give a cloud 40 points, and clouds have a ninth of the space. Against people’s lines, which are ' +
      'what a login sees, the likelihood ratio says how many times as often an exit that is named has such a score as an address ' +
      'of an access network: two bands whose intervals meet are not told apart.',
    ['```', ...spaceLines(held.access), ...heldOutLines(held), '```'].join('\n'),
    '',
  ].join('\n\n')
}

export function heldOutLines({ operators, bands, classes }: HeldOutEvaluation): readonly string[] {
  const heads =
    'operator,entries,all: signal,out: signal,>= 25,>= 50,table kept: signal,>= 25,>= 50'
  return [
    'leave one VPN operator out: its lists, their copies and its rows of the table; then without the rows',
    ...alignColumns(
      [
        heads.split(','),
        ...operators.operators.map((one) => operatorRow(one.operator, one)),
        operatorRow('pooled', operators.pooled),
        ['mean of operators', '', '', ...meanCells(operators.operators)],
      ],
      1,
    ),
    '',
    'badness by level: addresses that left-out lists name, per million with such a score; and against people’s lines',
    ...bandRows(levelBands(bands)),
    '',
    'the same by smaller bands',
    ...bandRows(bands),
    '',
    'IPv4 addresses by class',
    ...alignColumns(
      [
        ...Object.entries(classes.byClass).map(([name, size]) => [name, count(size)]),
        ['type hosting, no points', count(classes.silentHosting)],
      ],
      1,
    ),
    '',
  ]
}

function bandRows(bands: readonly ScoreBand[]): readonly string[] {
  const ratios = likelihoodRatios(bands)
  const rows = bands.map(({ from, addresses, people, named, badness }, index) => [
    String(from),
    count(addresses),
    count(named),
    million(badness.share),
    `${million(badness.low)}-${million(badness.high)}`,
    count(people),
    ...ratioCells(ratios[index]!),
  ])
  const heads = 'from,IPv4 addresses,named,per million,95 %,people’s,likelihood ratio,95 %'.split(
    ',',
  )
  return alignColumns([heads, ...rows], 0)
}

function ratioCells({ ratio, low, high }: LikelihoodRatio): readonly string[] {
  if (Number.isNaN(ratio)) return ['-', '-']
  if (!Number.isFinite(ratio)) return ['no people', '-']
  return [timesText(ratio), `${timesText(low)}-${timesText(high)}`]
}

function timesText(ratio: number): string {
  return ratio < 100 ? ratio.toPrecision(3) : count(ratio)
}

function operatorRow(
  name: string,
  { entries, withAll, unknown, withTable }: Omit<OperatorLeftOut, 'operator' | 'feeds'>,
): readonly string[] {
  const cells = ({ signal, fromAsk, fromBlock }: DetectedShares): readonly string[] =>
    [signal, fromAsk, fromBlock].map(interval)
  const all = percent(withAll.signal.share)
  return [name, count(entries), all, ...cells(unknown), ...cells(withTable)]
}

function meanCells(operators: readonly OperatorLeftOut[]): readonly string[] {
  const mean = (of: (one: OperatorLeftOut) => WilsonShare): string =>
    percent(operators.reduce((sum, one) => sum + of(one).share, 0) / operators.length)
  return [
    mean(({ unknown }) => unknown.signal),
    mean(({ unknown }) => unknown.fromAsk),
    mean(({ unknown }) => unknown.fromBlock),
    mean(({ withTable }) => withTable.signal),
    mean(({ withTable }) => withTable.fromAsk),
    mean(({ withTable }) => withTable.fromBlock),
  ]
}

function interval({ share, low, high }: WilsonShare): string {
  return `${percent(share)} (${percent(low)}-${percent(high)})`
}

function percent(share: number): string {
  return Number.isNaN(share) ? '-' : `${(100 * share).toFixed(1)} %`
}

function million(share: number): string {
  return Number.isNaN(share) ? '-' : (1e6 * share).toFixed(1)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
