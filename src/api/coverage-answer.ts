// `coverage` on the wire (contract 5.1: coverage): in answers of a table that has gaps or is old;
// in full in the meta answer and the status.

import { z } from 'zod'
import { coverageStates, coveredKinds } from '../model/coverage.ts'
import { type Wire, day } from './wire.ts'

const kindNames = z.array(z.enum(coveredKinds))

const gaps = {
  missing: kindNames.describe('Kinds without a recent enough feed in the table.'),
  partly: kindNames.describe('Kinds covered only by hand-maintained tables or incomplete feeds.'),
}

export const coverageAnswer = z
  .object({
    ...gaps,
    age_days: z
      .int()
      .describe('Days since the day of the table; only present above 7.')
      .exactOptional(),
  })
  .describe('Gaps of the table; absent if it covers every kind and is not old.')
export type CoverageAnswer = Wire<typeof coverageAnswer>

export const coverageReport = z.object({
  ...gaps,
  age_days: z.int().describe('Days since the day of the table.'),
  kinds: z
    .array(
      z.object({
        kind: z.enum(coveredKinds).describe('What its feeds claim about an address.'),
        state: z.enum(coverageStates).describe('How well the feeds of the table cover the kind.'),
        newest: day.nullable().describe('The newest day of its feeds; null without a feed.'),
        addresses: z.int().describe('Number of IPv4 addresses that its feeds list.'),
      }),
    )
    .describe('One entry for each kind.'),
})
export type CoverageReport = Wire<typeof coverageReport>
