// `insights` on the wire (contract 3.15): why an answer is what it is, for those who have to explain
// or dispute it. Member order is the order on the wire. Everything follows from the table.

import { z } from 'zod'
import { classifications, confidences, kinds, levels, matches } from '../model/kind.ts'
import { checkAnswer } from './check-answer.ts'
import { type Wire, day, percent, score } from './wire.ts'

const share = z.number().min(0).max(1)

const insightReason = z.object({
  code: z.string(),
  text: z.string(),
  points: z.int().describe('The points of all reasons add up to risk_score.'),
})
export type InsightReason = Wire<typeof insightReason>

const insightEvidence = z.object({
  feed: z.string(),
  kind: z.enum(kinds),
  provider: z.string(),
  matched: z
    .string()
    .describe('Address, prefix or range that the feed lists; `AS64496` for a whole AS.'),
  match: z.enum(matches),
  first_seen: day,
  last_seen: day,
  days_seen: z.int().describe('Of the last 30 days, those on which the feed listed it.'),
  days_observed: z.int().describe('Of the last 30 days, those with a snapshot of the feed.'),
  confidence: z.enum(confidences).describe('What this piece alone would give its finding.'),
  weight: share.describe("How much the feed's word counts."),
  lists: z.int().describe('Of a blocklist: how many lists name it; 1 elsewhere.'),
  licence: z.string(),
})
export type InsightEvidence = Wire<typeof insightEvidence>

const insightDensity = z
  .object({
    kind: z.enum(kinds),
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
  size: z.number(),
  listed: z.array(insightDensity),
})
export type InsightScope = Wire<typeof insightScope>

const insightWithoutFeed = z.object({
  feed: z.string(),
  classification: z.enum(classifications),
  risk_level: z.enum(levels),
  risk_score: score,
})
export type InsightWithoutFeed = Wire<typeof insightWithoutFeed>

const insightFallsBelow = z
  .object({
    risk_level: z.enum(levels),
    day: day.nullable().describe('The first day, if nothing is seen again; null: never.'),
  })
  .describe('One for every level reached, but the lowest.')
export type InsightFallsBelow = Wire<typeof insightFallsBelow>

const insightAlternative = z.object({
  classification: z.enum(classifications),
  strength: share,
  confidence: z.enum(confidences),
})

export const insights = z.object({
  table: z.object({
    id: z.string(),
    // Its mtime, which `cp -p` keeps.
    built_at: z.iso.datetime().describe('When the table file was written.'),
    as_of: day,
  }),
  score_range: z
    .tuple([score, score])
    .describe('Least and greatest score by the uncertainty of the weights.'),
  reasons: z.array(insightReason),
  evidence: z.array(insightEvidence),
  neighborhood: z.array(insightScope),
  counterfactuals: z.object({
    without_feed: z.array(insightWithoutFeed),
    falls_below: z.array(insightFallsBelow),
  }),
  alternatives: z.array(insightAlternative),
})
export type Insights = Wire<typeof insights>

/** A check's answer with its insights; null where the plan has none, or the table is too old. */
const insightsAnswer = checkAnswer.extend({
  insights: insights
    .nullable()
    .describe('With `?include=insights`; null where the plan has none, or the table is too old.'),
})
export type InsightsAnswer = Wire<typeof insightsAnswer>

/** What a check may answer: insights are there only where they were asked for. */
export const anyCheckAnswer = insightsAnswer.partial({ insights: true })
