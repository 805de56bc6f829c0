// The calibration as a page of Markdown beside its plots. Every figure comes from the calibration;
// the prose says what was done, never what came out. Nothing of the machine, no clock: the same
// input gives the same bytes.

import { formatDay } from '../../../src/base/day.ts'
import { kinds } from '../../../src/model/kind.ts'
import type { Calibration, FeedRow } from '../calibration/calibration.ts'
import { contradictionTexts } from '../calibration/contradiction.ts'
import type { LeftOut } from '../evaluation/leave-one-out.ts'
import { sharesPlot, survivalPlot, weightsPlot } from './calibration-plots.ts'
import type { SpaceShare } from '../world/address-space.ts'
import { assurancePriors, publisherAssurance } from '../../../build/evidence/source-list.ts'
import { halfLifeText } from './half-life-text.ts'
import {
  countedEntriesMax,
  countedOutcomesMax,
  weakWeightMax,
} from '../calibration/measured-weight.ts'
import { outcomeShares, outcomesJudged } from '../calibration/outcome-tally.ts'
import { wilsonShare } from '../../../src/feedback/wilson-share.ts'

/** File names and texts of the whole report. */
export function calibrationReportFiles(calibration: Calibration): ReadonlyMap<string, string> {
  const measured = calibration.rows.filter(hasTally)
  return new Map([
    ['README.md', page(calibration)],
    ['shares.svg', sharesPlot(measured.map(sharesOf))],
    [
      'weights.svg',
      weightsPlot(
        calibration.rows
          .filter(({ before, weight }) => before !== weight.weight)
          .map(({ feed, before, weight }) => ({ feed: feed.id, before, after: weight.weight })),
      ),
    ],
    [
      'lives.svg',
      survivalPlot(
        calibration.rows.flatMap(({ feed, lives }) =>
          lives === undefined ? [] : [{ feed: feed.id, lives }],
        ),
      ),
    ],
  ])
}

type Measured = FeedRow & { readonly tally: NonNullable<FeedRow['tally']> }

function hasTally(row: FeedRow): row is Measured {
  return row.tally !== undefined && row.tally.entries > 0
}

function sharesOf({ feed, tally }: Measured) {
  const { entries, confirmed, contradicted, settled } = tally
  return {
    feed: feed.id,
    confirmed: confirmed / entries,
    contradicted: contradicted / entries,
    settled: settled / entries,
  }
}

function page(calibration: Calibration): string {
  const { asOf, rows } = calibration
  return [
    '# Calibration',
    `How far can each feed be trusted? As of ${formatDay(asOf)}. Written by \`npm run bench -- calibrate\`, not by hand; ` +
      `\`by-hand.json\` holds the ` +
      'weights from before anything was measured.',
    '## What is measured',
    measures(),
    '## The formula',
    formula(),
    '## The feeds',
    feedTable(rows),
    '![Shares confirmed and contradicted](shares.svg)',
    ...outcomes(rows),
    '## Lives of entries',
    lives(rows),
    '![Survival of entries](lives.svg)',
    '## Half-lives',
    halfLifeText(rows),
    '## What the weights change',
    '![Weights before and after](weights.svg)',
    effect(calibration),
    '## Leave one out',
    cross(calibration),
    '',
  ].join('\n\n')
}

function measures(): string {
  const contradictions = kinds.map((kind) => {
    const { open, settled } = contradictionTexts[kind]
    return `| ${kind} | ${open} | ${settled} |`
  })
  return [
    'On the snapshots alone, without history. An entry counts once, by the share of its ' +
      'addresses of which ' +
      'something holds: half of a prefix that another feed lists too is half an entry. Feeds ' +
      'of ASes are ' +
      'measured in ASes that they call hosters.',
    '- unique: no other feed of the kind lists it.\n' +
      '- confirmed: a feed of another group, of the kind, lists it (proxy and residential ' +
      'proxy are one kind here).\n' +
      '- chance: the share of announced IPv4 space (of ASes) that those other groups list: ' +
      'of a list drawn at ' +
      'random so much would be confirmed.\n' +
      '- contradicted: something better known makes the claim implausible there. What the ' +
      'model settles by a rule ' +
      'of its own is told apart: the weight is never used there.',
    ['| kind | contradicted | settled by the model |', '|---|---|---|', ...contradictions].join(
      '\n',
    ),
  ].join('\n\n')
}

function formula(): string {
  const prior = Object.entries(assurancePriors).map(
    ([standing, { successes, failures }]) =>
      `| ${standing} | ${successes} | ${failures} | ${(successes / (successes + failures)).toFixed(2)} |`,
  )
  return [
    '```\nweight = (a + E·c) / (a + b + E·c + E·x)\n' +
      'c = (confirmed − chance) / (1 − chance), at least 0      x = contradicted, not settled\n' +
      `E = ${countedEntriesMax}·n / (n + ${countedEntriesMax}) for n entries\n\`\`\``,
    ['| standing | a | b | mean |', '|---|---|---|---|', ...prior].join('\n'),
    'The prior is a Beta distribution by what the publisher can know: *own* is an operator’s ' +
      'list of its own ' +
      'addresses (assurance direct with a provider), *tested* a test of the address itself ' +
      '(direct without one), ' +
      '*good* and *weak* as the catalogue says. E limits how much a long list can say: its ' +
      'errors come in whole ' +
      'ranges and networks, not one by one.',
    'Limits: *own* stays 1, by definition of the claim. Where E·c + E·x stays below 1 ' +
      'nothing was measured and the ' +
      `weight set by hand stands. *weak* ends at ${weakWeightMax}: its word alone never takes a ` +
      `hoster’s range to the ` +
      `score 25 (40 · ${weakWeightMax} · 0.9 = ${(40 * weakWeightMax * 0.9).toFixed(1)}), because ` +
      `confirmation, pooled over a ` +
      'list, says nothing of the entries that nobody else has. The life of an entry is no ' +
      'part of the weight: age ' +
      'has its own factor, by the half-lives of the model.',
  ].join('\n\n')
}

function feedTable(rows: readonly FeedRow[]): string {
  const head =
    '| feed | standing | group | day | entries | unique | confirmed | chance | contradicted ' +
    '| settled | median life | by hand | measured | weight | |\n' +
    '|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|'
  return [head, ...rows.map(feedLine)].join('\n')
}

function feedLine({ feed, day, tally, lives, before, weight }: FeedRow): string {
  const share = (part: number | undefined): string =>
    tally === undefined || tally.entries === 0 ? '' : percent((part ?? 0) / tally.entries)
  const cells = [
    feed.id,
    publisherAssurance(feed),
    feed.group,
    day === undefined ? '' : formatDay(day),
    tally === undefined ? '' : count(tally.entries),
    share(tally?.unique),
    share(tally?.confirmed),
    tally === undefined ? '' : percent(tally.chance),
    share(tally?.contradicted),
    share(tally?.settled),
    medianOf(lives),
    String(before),
    weight.measured.toFixed(2),
    String(weight.weight),
    weight.why,
  ]
  return `| ${cells.join(' | ')} |`
}

/** Only where callers reported some: the published report has none. */
function outcomes(rows: readonly FeedRow[]): readonly string[] {
  const lines = rows.flatMap(({ feed, outcomes: tally }) => {
    if (tally === undefined) return []
    const { addresses, abusive } = tally
    const { share, low, high } = wilsonShare(abusive, addresses)
    const { confirmed, contradicted } = outcomeShares(tally)
    const shares = [percent(share), `${percent(low)}–${percent(high)}`]
    const cells = [feed.id, count(addresses), count(abusive), ...shares]
    return [`| ${[...cells, percent(confirmed), percent(contradicted)].join(' | ')} |`]
  })
  const chance = rows.find(({ outcomes: tally }) => tally !== undefined)?.outcomes?.chance
  if (chance === undefined) return []
  return [
    '## Outcomes',
    `What callers reported: ${percent(chance)} of the addresses turned out abusive, so of a list ` +
      'drawn at random so many would have. Confirmed and contradicted are what a feed’s addresses ' +
      'are above or below that, by the end of the 95 % interval that is nearer to it, and nothing ' +
      `of fewer than ${outcomesJudged} addresses. They count in the formula beside the other feeds, ` +
      `with ${countedOutcomesMax} in place of ${countedEntriesMax}: as one voice. Bots and relays ` +
      'claim nothing that an outcome could contradict.',
    [
      '| feed | addresses | abusive | share | interval | confirmed | contradicted |',
      '|---|--:|--:|--:|--:|--:|--:|',
      ...lines,
    ].join('\n'),
  ]
}

function medianOf(lives: FeedRow['lives']): string {
  if (lives === undefined) return 'not measured'
  const { medianDays, daysMax } = lives
  return medianDays === undefined ? `over ${daysMax} d` : `${medianDays} d`
}

function lives(rows: readonly FeedRow[]): string {
  const lines = rows.flatMap(({ feed, lives }) => {
    if (lives === undefined) return []
    const cells = [feed.id, count(lives.begun), count(lives.censored), medianOf(lives)]
    return [`| ${cells.join(' | ')} |`]
  })
  return [
    'From the history, by Kaplan and Meier. A life is from the first to the last day listed, ' +
      'gaps included; a single ' +
      'day is 1. Entries of the feed’s first snapshot are left out, because nobody saw them ' +
      'begin; an entry that ' +
      'its newest snapshot still lists is censored: alive for that long at least. Where less ' +
      'than half of the ' +
      'lives ended, the median is over the longest life that could have been seen.',
    ['| feed | begun | still listed | median |', '|---|--:|--:|--:|', ...lines].join('\n'),
  ].join('\n\n')
}

function effect({ effect }: Calibration): string {
  const space = (name: string, share: SpaceShare): string =>
    `| ${name} | ${count(share.total)} | ${fine(share.fromAsk, share.total)} | ` +
    `${fine(share.fromBlock, share.total)} |`
  const moved = effect.moved
    .slice(0, 20)
    .map(({ change, ipv4, ipv6_64s }) => `| ${change} | ${count(ipv4)} | ${count(ipv6_64s)} |`)
  return [
    'False alarms: the space of access networks at these scores, by sum of sizes.',
    [
      '| access networks | size | score ≥ 25 | score ≥ 50 |',
      '|---|--:|--:|--:|',
      space('IPv4 addresses, by hand', effect.before[4]),
      space('IPv4 addresses, measured', effect.after[4]),
      space('IPv6 /64s, by hand', effect.before[6]),
      space('IPv6 /64s, measured', effect.after[6]),
    ].join('\n'),
    'Addresses whose class or level changes, the largest twenty:',
    ['| change | IPv4 addresses | IPv6 /64s |', '|---|--:|--:|', ...moved].join('\n'),
  ].join('\n\n')
}

function cross({ crossBefore, crossAfter }: Calibration): string {
  const after = new Map(crossAfter.map((row) => [row.feed, row]))
  const lines = crossBefore.map((row) => {
    const now = after.get(row.feed) ?? row
    return `| ${row.feed} | ${row.kind} | ${count(row.entries)} | ${[row, now].map(crossCells).join(' | ')} |`
  })
  return [
    'How much of a feed’s current entries the others find when it says nothing, and when its ' +
      'whole group says ' +
      'nothing: the kind’s signal, and any reason for a score of 50. First with the weights ' +
      'set by hand, then with ' +
      'the measured ones; Wilson intervals at 95 % for the signal without the group.',
    [
      '| feed | kind | entries | signal without feed | without group | ≥ 50 without group | ' +
        'signal without feed | without group | ≥ 50 without group |',
      '|---|---|--:|--:|--:|--:|--:|--:|--:|',
      ...lines,
    ].join('\n'),
  ].join('\n\n')
}

function crossCells({ withoutFeed, withoutGroup }: LeftOut): string {
  const { share, low, high } = withoutGroup.signal
  return [
    percent(withoutFeed.signal.share),
    `${percent(share)} (${percent(low)}–${percent(high)})`,
    percent(withoutGroup.fromBlock.share),
  ].join(' | ')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

/** Four decimals of a percent: false alarms are counted in millionths. */
function fine(part: number, whole: number): string {
  return whole === 0 ? '' : `${((100 * part) / whole).toFixed(4)} %`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
