// A calibration as it is kept in docs/calibration: everything as JSON, and a page with the table of
// feeds. Nothing of the machine, no clock: the same input gives the same bytes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatDay } from '../../../src/base/day.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'
import { publisherAssurance } from '../../../build/evidence/source-list.ts'
import { markdownTable } from '../../harness/markdown-table.ts'
import type { Calibration, FeedRow } from '../calibration/calibration.ts'
import { type CurvePoint, eventsMin, halfLivesToKeep } from '../calibration/half-life.ts'
import { percent, writeKept } from './kept-result.ts'

export type KeptCalibration = ReturnType<typeof keptCalibration>

/** Writes `newest.json` and README.md. */
export function saveCalibration(folder: string, calibration: Calibration): void {
  const kept = writeKept(folder, keptCalibration(calibration)) as KeptCalibration
  writeFileSync(join(folder, 'README.md'), calibrationPage(kept))
}

function keptCalibration({ asOf, rows, effect, crossBefore, crossAfter }: Calibration) {
  const leaveOneOut = { before: crossBefore, after: crossAfter }
  return { asOf: formatDay(asOf), feeds: rows.map(keptRow), effect, leaveOneOut }
}

function keptRow({ feed, day, tally, outcomes, lives, before, weight, halfLives }: FeedRow) {
  const kept = halfLivesToKeep(feed, halfLives)
  const share = (part: number | undefined): number | null =>
    tally === undefined || part === undefined ? null : part / tally.entries
  return {
    feed: feed.id,
    standing: publisherAssurance(feed),
    group: feed.group,
    day: day === undefined ? null : formatDay(day),
    entries: tally?.entries ?? null,
    unique: share(tally?.unique),
    confirmed: share(tally?.confirmed),
    chance: tally?.chance ?? null,
    contradicted: share(tally?.contradicted),
    settled: share(tally?.settled),
    outcomes,
    lives: lives === undefined ? null : { ...lives, survival: undefined },
    before,
    ...weight,
    halfLives: halfLives.map(({ turnover, departures, curve: { by, start, points, days } }) => ({
      turnover,
      departures,
      by,
      days,
      kept: kept[turnover],
      start: watchedShare(start),
      points: points.map(watchedShare),
    })),
  }
}

function watchedShare({ seen, asked }: CurvePoint): number | null {
  return asked < eventsMin ? null : seen / asked
}

export function calibrationPage({ asOf, feeds }: KeptCalibration): string {
  const rows = feeds.map((row) => [
    row.feed,
    row.standing,
    row.group,
    row.day ?? '',
    row.entries === null ? '' : formatCount(Math.round(row.entries)),
    ...[row.unique, row.confirmed, row.chance, row.contradicted, row.settled].map((share) =>
      percent(share),
    ),
    medianOf(row.lives),
    String(row.before),
    row.measured.toFixed(2),
    String(row.weight),
    row.why,
  ])
  const heads =
    'feed|standing|group|day|entries|unique|confirmed|chance|contradicted|settled|median life|' +
    'by hand|measured|weight|'
  return [
    '# Calibration',
    `How far can each feed be trusted? As of ${asOf}. Written by \`npm run bench -- calibrate\`, ` +
      'together with `newest.json`, which also has the lives of entries, half-lives, what the ' +
      'weights change, and what is found with each feed left out. `by-hand.json` holds the weights ' +
      'from before anything was measured.',
    'An entry counts once, by the share of its addresses; feeds of ASes are measured in ASes. ' +
      '*Unique*: no other feed of the kind lists it. *Confirmed*: a feed of another group does; ' +
      '*chance* is the share of announced space that those list. *Contradicted*: something better ' +
      'known makes the claim implausible; *settled*: the model decides that by a rule of its own. ' +
      'How these become a weight, half-lives and contradictions is in ' +
      '[bench/detection/calibration](../../bench/detection/calibration), in the heads of ' +
      '`measured-weight.ts`, `half-life.ts` and `contradiction.ts`.',
    markdownTable(heads.split('|'), rows, 4).join('\n'),
    '',
  ].join('\n\n')
}

function medianOf(lives: KeptCalibration['feeds'][number]['lives']): string {
  if (lives === null) return 'not measured'
  const { medianDays, daysMax } = lives
  return medianDays === undefined ? `over ${daysMax} d` : `${medianDays} d`
}
