// The meta answer on the wire (contract 3.17).

import { z } from 'zod'
import { levels, valueLists } from '../model/kind.ts'
import { coverageReport } from './coverage-answer.ts'
import { type Wire, day, membersOf, score } from './wire.ts'

const remaining = {
  remaining: z.int().describe('What is left just now.'),
  reset_seconds: z.int().describe('Until all of it is back.'),
}

export const metaAnswer = z
  .object({
    table: z
      .object({
        id: z.string().describe('As in the member table of every answer.'),
        as_of: day.describe('The day that counts as today in the table, UTC.'),
        age_seconds: z.int().describe('From that day to the clock.'),
        bytes: z.int().describe('The size of the file.'),
      })
      .describe('The table that answers.'),
    coverage: coverageReport.describe('Which kinds the feeds of the table cover.'),
    feeds: z
      .array(
        z.object({
          id: z.string().describe('Its name in the catalogue.'),
          kind: z.string().describe('What it claims of an address.'),
          provider: z.string().describe('Who publishes it.'),
          licence: z.string().describe('Its SPDX identifier, or what its publisher says.'),
          homepage: z.string().describe('The page of the feed.'),
          day: day.describe('The day of the snapshot in the table.'),
          age_seconds: z.int().describe('From that day to the clock.'),
          entries: z.int().describe('How many lines of it are in the table.'),
        }),
      )
      .describe('The feeds of the table.'),
    thresholds: z
      .array(
        z.object({
          risk_level: z.enum(levels).describe('The level.'),
          risk_score_min: score.describe('Its least score.'),
          risk_score_max: score.describe('Its greatest score.'),
        }),
      )
      .describe('The scores of each level.'),
    values: membersOf(
      Object.keys(valueLists) as (keyof typeof valueLists)[],
      z.array(z.string().describe('A value.')).describe('Its values.'),
    ).describe('The values of each list of an answer.'),
    policies: z
      .object({
        revision: z.string().describe('A hash: machines with the same one decide alike.'),
        names: z.array(z.string()).describe('Those that a request of the key may name.'),
        default: z.string().describe('The one that decides where a request names none.'),
      })
      .nullable()
      .describe('Null where the service has no policies.'),
    key: z
      .object({
        id: z.string().describe('The public part of the key.'),
        plan: z.string().describe('Its plan.'),
        apis: z.array(z.string()).describe('What it may call.'),
        insights: z.string().describe('`never`, `on_request` or `always`.'),
        limits: z
          .object({
            rate: z
              .object({
                per_second: z.int().describe('Requests a second, on average.'),
                burst: z.int().describe('Requests at once.'),
                ...remaining,
              })
              .nullable()
              .describe('The rate limit.'),
            quota: z
              .object({
                per_month: z.int().describe('Answers a calendar month, UTC.'),
                ...remaining,
              })
              .nullable()
              .describe('The quota.'),
          })
          .describe('A limit that does not exist is null.'),
      })
      .describe('The asking key.'),
  })
  .describe('What the service knows, and what the asking key may do.')
export type MetaAnswer = Wire<typeof metaAnswer>
