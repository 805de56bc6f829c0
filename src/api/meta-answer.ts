// The answer of GET /v1/intelligence/ip-risk/meta (contract 3.17) on the wire: the table that
// answers, its feeds with their ages and licences, the thresholds and value lists of an answer, what
// the asking key may do, and how much of its limits is left just now.

import { z } from 'zod'
import { levels } from '../model/kind.ts'
import { valueLists } from './value-lists.ts'
import { type Wire, day, membersOf, score } from './wire.ts'

const remaining = {
  remaining: z.int(),
  reset_seconds: z.int().describe('Until all of it is back.'),
}

export const metaAnswer = z.object({
  table: z.object({ id: z.string(), as_of: day, age_seconds: z.int(), bytes: z.int() }),
  feeds: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      provider: z.string(),
      licence: z.string(),
      homepage: z.string(),
      day: day.describe('The day of the snapshot in the table.'),
      age_seconds: z.int(),
      entries: z.int(),
    }),
  ),
  thresholds: z.array(
    z.object({ risk_level: z.enum(levels), risk_score_min: score, risk_score_max: score }),
  ),
  values: membersOf(Object.keys(valueLists) as (keyof typeof valueLists)[], z.array(z.string())),
  key: z.object({
    id: z.string(),
    plan: z.string(),
    apis: z.array(z.string()),
    insights: z.string(),
    limits: z
      .object({
        rate: z.object({ per_second: z.int(), burst: z.int(), ...remaining }).nullable(),
        quota: z.object({ per_month: z.int(), ...remaining }).nullable(),
      })
      .describe('A limit that does not exist is null.'),
  }),
})
export type MetaAnswer = Wire<typeof metaAnswer>
