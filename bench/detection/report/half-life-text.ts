// The half-lives of a calibration as a section of its report: what was measured, each curve, and
// which of them the catalogue is to have.

import { markdownTable } from '../../harness/markdown-table.ts'
import { absenceBuckets, eventsMin, halfLivesToKeep } from '../calibration/half-life.ts'
import type { CurvePoint, FeedHalfLife } from '../calibration/half-life.ts'
import type { HalfLives } from '../../../src/model/evidence.ts'
import type { FeedRow } from '../calibration/calibration.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'
import { halfLifeDays } from '../../../src/score/weight/decay.ts'

export function halfLifeText(rows: readonly FeedRow[]): string {
  const cells = rows.flatMap(({ feed, halfLives }) =>
    halfLives.map((one) => rowOf(feed, one, halfLivesToKeep(feed, halfLives))),
  )
  const heads = [
    'feed',
    'networks',
    'left',
    'seen again',
    'start',
    ...absenceBuckets.map(([first, last]) =>
      first === last ? `${first} d` : `${first}–${last} d`,
    ),
    'measured',
    'kind',
    'catalogue',
  ]
  return [
    'Of the entries that left a feed, how many were seen again k days later? *confirmed*: an independent feed of ' +
      'the kind names it on that day; start is how many of the feed’s entries are named on a day on which ' +
      'it lists them. *returned*: the feed lists it again, of those that had not come back before; start is the first ' +
      'days on which one did. The half-life is that of the falling curve which fits the shares best, relative to the ' +
      `start; fewer than ${eventsMin} sightings are no measurement. Networks are people’s own lines, those where ` +
      'many share an address, and all others.',
    markdownTable(heads, cells, 2).join('\n'),
    'The catalogue takes what independent feeds confirm over absences of three weeks and more; of residential proxies, of ' +
      'which there is no second list, the returns. A rule or situation of the specification wins: Tor stays at one day, ' +
      'because a relay that is no longer an exit must be none; on shared lines residential proxies stay at 3 days.',
  ].join('\n\n')
}

function rowOf(
  { id, kind }: FeedRow['feed'],
  { turnover, departures, curve }: FeedHalfLife,
  kept: HalfLives,
): readonly string[] {
  const byKind = kind === 'network' ? undefined : halfLifeDays[kind]?.[turnover]
  return [
    id,
    turnover,
    formatCount(departures),
    curve.by,
    share(curve.start),
    ...curve.points.map(share),
    curve.days === undefined ? 'no' : `${curve.days} d`,
    `${byKind ?? ''} d`,
    kept[turnover] === undefined ? '' : `${kept[turnover]} d`,
  ]
}

function share({ seen, asked }: CurvePoint): string {
  return asked < eventsMin ? '' : `${((100 * seen) / asked).toFixed(2)} %`
}
