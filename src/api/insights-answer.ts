// `insights` on the wire (contract 3.15), for people who must explain or dispute an answer. Members
// stand in the order of the wire. Everything follows from the table.

import { z } from 'zod'
import { classifications, confidences, kinds, levels, matches } from '../model/kind.ts'
import { checkAnswer } from './check-answer.ts'
import { type Wire, day, percent, score } from './wire.ts'

const share = z.number().min(0).max(1)

const insightReason = z.object({
  code: z.string().describe('Stable code, as in reasons.'),
  text: z.string().describe('The code in one sentence.'),
  points: z.int().describe('The points of all reasons add up to risk_score.'),
})

const insightEvidence = z.object({
  feed: z.string().describe('Its name in the catalogue.'),
  kind: z.enum(kinds).describe('What it claims.'),
  provider: z.string().describe('Whom it names; empty where it names none.'),
  matched: z
    .string()
    .describe('Address, prefix or range that the feed lists; `AS64496` for a whole AS.'),
  match: z.enum(matches).describe('How it meets the address.'),
  first_seen: day.describe('The first day on which the feed listed it.'),
  last_seen: day.describe('The newest one.'),
  days_seen: z.int().describe('Of the last 30 days, those on which the feed listed it.'),
  days_observed: z.int().describe('Of the last 30 days, those with a snapshot of the feed.'),
  confidence: z.enum(confidences).describe('What this piece alone would give its finding.'),
  weight: share.describe("How much the feed's word counts."),
  lists: z.int().describe('Of a blocklist: how many lists name it; 1 elsewhere.'),
  licence: z.string().describe('The licence of the feed.'),
})
export type InsightEvidence = Wire<typeof insightEvidence>

const insightDensity = z
  .object({
    kind: z.enum(kinds).describe('What is claimed.'),
    listed: z.number().describe("In the scope's unit."),
    percent: percent.describe("Of the scope's size."),
    times_asn: z
      .number()
      .nullable()
      .describe('percent over that of the whole AS; null for the AS itself and an unknown AS.'),
  })
  .describe('What of one kind is listed. Kinds of which nothing is listed are left out.')
export type InsightDensity = Wire<typeof insightDensity>

const insightScope = z.object({
  scope: z.string().describe('`192.0.2.0/24`, `AS64496`.'),
  unit: z
    .enum(['address', '/64'])
    .describe("What is counted: IPv6 is counted by /64, a customer's line."),
  size: z.number().describe('How many there are.'),
  listed: z.array(insightDensity).describe('What of them is listed, by kind.'),
})
export type InsightScope = Wire<typeof insightScope>

const insightWithoutFeed = z.object({
  feed: z.string().describe('The feed that is left out.'),
  classification: z.enum(classifications).describe('What the answer would be then.'),
  risk_level: z.enum(levels).describe('Its level.'),
  risk_score: score.describe('Its score.'),
})

const insightFallsBelow = z
  .object({
    risk_level: z.enum(levels).describe('The level that it falls below.'),
    day: day.nullable().describe('The first day, if nothing is seen again; null: never.'),
  })
  .describe('One for every level reached, but the lowest.')

const insightAlternative = z.object({
  classification: z.enum(classifications).describe('Another class that has evidence.'),
  strength: share.describe('How strong that evidence is; 0.25 makes a signal.'),
  confidence: z.enum(confidences).describe('How sure it is.'),
})

export const insights = z
  .object({
    table: z
      .object({
        id: z.string().describe('As in the member table of the answer.'),
        // Its mtime, which `cp -p` keeps.
        built_at: z.iso.datetime().describe('When the table file was written.'),
        as_of: day.describe('The day that counts as today in it, UTC.'),
      })
      .describe('The table that answered.'),
    score_range: z
      .tuple([score, score])
      .describe('Least and greatest score by the uncertainty of the weights.'),
    reasons: z.array(insightReason).describe('Each part of the score, with its points.'),
    evidence: z.array(insightEvidence).describe('Which feed says what, since when.'),
    neighborhood: z.array(insightScope).describe('What is listed around the address.'),
    counterfactuals: z
      .object({
        without_feed: z.array(insightWithoutFeed).describe('The answer without each feed.'),
        falls_below: z.array(insightFallsBelow).describe('When the score falls by itself.'),
      })
      .describe('What the answer would be if something were otherwise.'),
    alternatives: z.array(insightAlternative).describe('What else the address might be.'),
  })
  .describe('Why an answer is what it is.')
export type Insights = Wire<typeof insights>

const insightsAnswer = checkAnswer.extend({
  insights: insights
    .nullable()
    .describe('With `?include=insights`; null where the plan has none, or the table is too old.'),
})
export type InsightsAnswer = Wire<typeof insightsAnswer>

/** Insights are only there if they were asked for. */
export const anyCheckAnswer = insightsAnswer
  .partial({ insights: true })
  .describe('What is known of an address.')
