// The meta answer on the wire (contract 3.17: table, feeds, values, limits).

import { z } from 'zod'
import { levels, valueLists } from '../model/kind.ts'
import { coverageReport } from './coverage-answer.ts'
import { type Wire, day, membersOf, score } from './wire.ts'

const remaining = {
  remaining: z.int().describe('What is left now.'),
  reset_seconds: z.int().describe('Seconds until the full burst is available.'),
}

export const metaAnswer = z
  .object({
    table: z
      .object({
        id: z.string().describe('As in the `table` member of every answer.'),
        as_of: day.describe('The day that counts as today in the table, UTC.'),
        age_seconds: z.int().describe('Seconds since that day.'),
        bytes: z.int().describe('Size of the file.'),
      })
      .describe('The table that answers.'),
    coverage: coverageReport.describe('Which kinds the feeds of the table cover.'),
    feeds: z
      .array(
        z.object({
          id: z.string().describe('Name in the catalogue.'),
          kind: z.string().describe('What it claims about an address.'),
          provider: z.string().describe('Publisher.'),
          licence: z.string().describe("SPDX identifier, or the publisher's own words."),
          homepage: z.string().describe('Web page of the feed.'),
          day: day.describe('The day of the snapshot in the table.'),
          age_seconds: z.int().describe('Seconds since that day.'),
          entries: z.int().describe('Number of its entries in the table.'),
        }),
      )
      .describe('The feeds of the table.'),
    thresholds: z
      .array(
        z.object({
          risk_level: z.enum(levels).describe('The level.'),
          risk_score_min: score.describe('Its lowest score.'),
          risk_score_max: score.describe('Its highest score.'),
        }),
      )
      .describe('The score range of each level.'),
    values: membersOf(
      Object.keys(valueLists) as (keyof typeof valueLists)[],
      z.array(z.string().describe('A value.')).describe('Its values.'),
    ).describe('The values of each enumeration in an answer.'),
    policies: z
      .object({
        revision: z.string().describe('A hash; servers with the same revision decide alike.'),
        names: z.array(z.string()).describe('The policies that a request with this key may name.'),
        default: z.string().describe('The policy applied if a request names none.'),
      })
      .nullable()
      .describe('Null if the service has no policies.'),
    key: z
      .object({
        id: z.string().describe('The public part of the key.'),
        plan: z.string().describe('Its plan.'),
        apis: z.array(z.string()).describe('The APIs that it may call.'),
        insights: z.string().describe('`never`, `on_request` or `always`.'),
        limits: z
          .object({
            rate: z
              .object({
                per_second: z.int().describe('Requests per second, on average.'),
                burst: z.int().describe('Requests in one burst.'),
                ...remaining,
              })
              .nullable()
              .describe('The rate limit.'),
            quota: z
              .object({
                per_month: z.int().describe('Answers per calendar month, UTC.'),
                ...remaining,
              })
              .nullable()
              .describe('The quota.'),
          })
          .describe('The limits of the key; null means unlimited.'),
      })
      .describe('The key of the request.'),
  })
  .describe('Table, feeds, thresholds, value lists, policies and the limits of the key.')
export type MetaAnswer = Wire<typeof metaAnswer>
