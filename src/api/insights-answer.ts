// `insights` on the wire (contract 3.15: insights), for people who must explain or dispute an
// answer. Members are in the order of the wire. Everything follows from the table.

import { z } from 'zod'
import { classifications, confidences, kinds, levels, matches } from '../model/kind.ts'
import { checkAnswer } from './check-answer.ts'
import { type Wire, day, percent, score } from './wire.ts'

const share = z.number().min(0).max(1)

const insightReason = z.object({
  code: z.string().describe('Stable code, as in reasons.'),
  text: z.string().describe('The code, explained in one sentence.'),
  points: z.int().describe('The points of all reasons add up to risk_score.'),
})

const insightEvidence = z.object({
  feed: z.string().describe('Name in the catalogue.'),
  kind: z.enum(kinds).describe('What it claims.'),
  provider: z.string().describe('The operator that it names; empty if it names none.'),
  matched: z
    .string()
    .describe('Address, prefix or range that the feed lists; `AS64496` for a whole AS.'),
  match: z.enum(matches).describe('How it matches the address.'),
  first_seen: day.describe('The first day on which the feed listed it.'),
  last_seen: day.describe('The last such day.'),
  days_seen: z.int().describe('Days out of the last 30 on which the feed listed it.'),
  days_observed: z.int().describe('Days out of the last 30 with a snapshot of the feed.'),
  confidence: z.enum(confidences).describe('The confidence that this evidence alone would give.'),
  weight: share.describe('How much the feed counts.'),
  lists: z.int().describe('For blocklists, the number of lists that name it; otherwise 1.'),
  licence: z.string().describe('The licence of the feed.'),
})
export type InsightEvidence = Wire<typeof insightEvidence>

const insightDensity = z
  .object({
    kind: z.enum(kinds).describe('What the feeds claim.'),
    listed: z.number().describe("Number listed, in the scope's unit."),
    percent: percent.describe('Percentage of the scope.'),
    times_asn: z
      .number()
      .nullable()
      .describe('`percent` over that of the AS; null for the AS itself or an unknown AS.'),
  })
  .describe('What is listed of one kind. Kinds without listed addresses are omitted.')
export type InsightDensity = Wire<typeof insightDensity>

const insightScope = z.object({
  scope: z.string().describe('`192.0.2.0/24`, `AS64496`.'),
  unit: z
    .enum(['address', '/64'])
    .describe('What is counted. IPv6 is counted in /64s, one per customer line.'),
  size: z.number().describe('Number of units in the scope.'),
  listed: z.array(insightDensity).describe('What is listed in the scope, by kind.'),
})
export type InsightScope = Wire<typeof insightScope>

const insightWithoutFeed = z.object({
  feed: z.string().describe('The feed left out.'),
  classification: z.enum(classifications).describe('The classification without it.'),
  risk_level: z.enum(levels).describe('The level without it.'),
  risk_score: score.describe('The score without it.'),
})

const insightFallsBelow = z
  .object({
    risk_level: z.enum(levels).describe('The level.'),
    day: day.nullable().describe('First day below it if nothing is seen again; null if never.'),
  })
  .describe('One for each level reached, except the lowest.')

const insightAlternative = z.object({
  classification: z.enum(classifications).describe('Another classification with evidence.'),
  strength: share.describe('Strength of the evidence; 0.25 sets the signal.'),
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
      .describe('Lowest and highest score, given the uncertainty of the weights.'),
    reasons: z.array(insightReason).describe('Each part of the score, with its points.'),
    evidence: z.array(insightEvidence).describe('Which feed lists what, and since when.'),
    neighborhood: z.array(insightScope).describe('What is listed around the address.'),
    counterfactuals: z
      .object({
        without_feed: z.array(insightWithoutFeed).describe('The answer without each feed.'),
        falls_below: z.array(insightFallsBelow).describe('When the score falls below each level.'),
      })
      .describe('What would change the answer.'),
    alternatives: z.array(insightAlternative).describe('Other classifications with evidence.'),
  })
  .describe('Explains an answer.')
export type Insights = Wire<typeof insights>

const insightsAnswer = checkAnswer.extend({
  insights: insights
    .nullable()
    .describe('With `?include=insights`; null if the plan has none or the table is too old.'),
})
export type InsightsAnswer = Wire<typeof insightsAnswer>

/** Insights are only there if they were asked for. */
export const anyCheckAnswer = insightsAnswer
  .partial({ insights: true })
  .describe('What is known about an address.')
