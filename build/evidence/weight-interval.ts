// How far a feed's weight may be off, from which follows how far a score may be (score_range).
//
// A weight is the mean of a Beta distribution (bench/detection/calibration/measured-weight.ts). Its
// spread is that of the prior alone, a + b by the publisher's assurance: measurements only narrow
// it, so the interval is never too narrow for that reason.
//
//   sd = sqrt(w (1 - w) / (a + b + 1))        interval = w +- 1.2816 sd, cut at 0 and 1: 80 percent
//
// Example: a weak feed of weight 0.5, a + b = 10: sd 0.151, from 0.31 to 0.69. An operator's own
// list has weight 1 by definition of its claim, and no spread.
import type { Feed } from '../catalogue/feed.ts'
import { assurancePriors, publisherAssurance } from './publisher-assurance.ts'
import { voiceOf } from './normalise.ts'
import type { SourceVoice } from '../../src/table/file/table-source.ts'

/** Of a normal distribution, 80 percent lie within so many standard deviations. */
const deviations = 1.2816

export function voiceWithInterval(feed: Feed): SourceVoice {
  const { id: _id, ...voice } = voiceOf(feed)
  const { weight } = voice
  const { successes, failures } = assurancePriors[publisherAssurance(feed)]
  const spread = deviations * Math.sqrt((weight * (1 - weight)) / (successes + failures + 1))
  return { ...voice, weightLow: round(weight - spread), weightHigh: round(weight + spread) }
}

/** Two decimals, as weights have. */
function round(weight: number): number {
  return Math.round(Math.min(1, Math.max(0, weight)) * 100) / 100
}
