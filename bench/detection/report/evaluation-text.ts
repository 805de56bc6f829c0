// An evaluation in lines for people. The figures come from bench/detection/evaluation; here
// they only get their form.

import type { LeftOut } from '../evaluation/leave-one-out.ts'
import type { Evaluation } from '../evaluation/labelled-lists.ts'
import type { RecentEvaluation } from '../evaluation/leave-last-days-out.ts'
import type { AccessSpace } from '../world/address-space.ts'
import type { WilsonShare } from '../../../src/feedback/wilson-share.ts'
import { alignColumns } from '../../../src/base/text/align-columns.ts'
import { formatDay } from '../../../src/base/day.ts'

/** Where a labelled list came from, and what of it could not be used. */
export interface EvaluatedList {
  readonly file: string
  readonly dropCount: number
  readonly dropped: readonly string[]
}

export function evaluationLines(one: Evaluation & EvaluatedList): readonly string[] {
  const { file, label, entries, dropCount } = one
  const dropped = dropCount === 0 ? '' : `; lines left out: ${count(dropCount)}, the first:`
  const group = (name: string, shares: Readonly<Record<string, WilsonShare>>): string[][] =>
    Object.entries(shares)
      .filter(([, { share }]) => share > 0)
      .map(([key, share]) => [name, key, ...cells(share)])
  const alarms = label === 'clean' ? 'false alarm' : 'score'
  return [
    `${file}: ${label}, ${count(entries)} entries${dropped}`,
    ...one.dropped.map((text) => `  ${text}`),
    ...alignColumns(
      [
        ['', '', 'share', '95 %, from', 'to'],
        ['recall', label === 'clean' ? 'no accusation' : 'signal', ...cells(one.recall)],
        ['recall', 'class', ...cells(one.recallByClass)],
        [alarms, 'from 25', ...cells(one.fromAsk)],
        [alarms, 'from 50', ...cells(one.fromBlock)],
        ...group('class', one.byClass),
        ...group('signal', one.bySignal),
        ...group('level', one.byLevel),
      ],
      2,
    ),
    '',
  ]
}

export function spaceLines(space: AccessSpace): readonly string[] {
  const row = (name: string, family: 4 | 6): string[] => {
    const { total, fromAsk, fromBlock } = space[family]
    return [name, count(total), fine(fromAsk / total), fine(fromBlock / total)]
  }
  return [
    'false alarms in the space of access networks, by sum of sizes',
    ...alignColumns(
      [['', 'size', 'score >= 25', 'score >= 50'], row('IPv4 addresses', 4), row('IPv6 /64s', 6)],
      1,
    ),
    '',
  ]
}

export function leftOutLines(rows: readonly LeftOut[]): readonly string[] {
  const lines = rows.map(({ feed, kind, entries, withAll, withoutFeed, withoutGroup }) => [
    feed,
    kind,
    count(entries),
    percent(withAll.signal.share),
    percent(withoutFeed.signal.share),
    percent(withoutFeed.fromBlock.share),
    percent(withoutGroup.signal.share),
    `${percent(withoutGroup.signal.low)}-${percent(withoutGroup.signal.high)}`,
    percent(withoutGroup.flagged.share),
    percent(withoutGroup.fromAsk.share),
    percent(withoutGroup.fromBlock.share),
  ])
  return [
    'leave one out: what the others say of its current entries, without the feed and without its group',
    ...alignColumns(
      [
        'feed,kind,entries,signal,feed: signal,>= 50,group: signal,95 %,any,>= 25,>= 50'.split(','),
        ...lines,
      ],
      2,
    ),
    '',
  ]
}

export function recentLines({ before, asOf, leftOut, rows }: RecentEvaluation): readonly string[] {
  const lines = rows.map((row) => [
    row.feed,
    count(row.begun),
    percent(row.signal.share),
    percent(row.flagged.share),
    percent(row.fromBlock.share),
    percent(row.neighbour.share),
    fine(row.neighbourSpace),
    row.perThousand.toFixed(2),
    percent(row.network.share),
    percent(row.networkSpace),
  ])
  return [
    `entries that began after ${formatDay(before)}, up to ${formatDay(asOf)}, and what the world of ` +
      `${formatDay(before)} said; without ${leftOut.length === 0 ? 'nothing' : leftOut.join(', ')}`,
    ...alignColumns(
      [
        'feed,begun,signal,any,>= 50,in a listed /24,of space,new per 1000,in a listed AS,of space'.split(
          ',',
        ),
        ...lines,
      ],
      1,
    ),
    '',
  ]
}

function cells({ share, low, high }: WilsonShare): readonly string[] {
  return [percent(share), percent(low), percent(high)]
}

function percent(share: number): string {
  return Number.isNaN(share) ? '-' : `${(100 * share).toFixed(1)} %`
}

/** Four decimals: false alarms are counted in millionths. */
function fine(share: number): string {
  return Number.isNaN(share) ? '-' : `${(100 * share).toFixed(4)} %`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
