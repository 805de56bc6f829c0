// `coverage` on the wire (contract 5.1): in answers of a table that has gaps or is old; in full in
// the meta answer and the status.

import { z } from 'zod'
import { coverageStates, coveredKinds } from '../model/coverage.ts'
import { type Wire, day } from './wire.ts'

const kindNames = z.array(z.enum(coveredKinds))

const gaps = {
  missing: kindNames.describe('Kinds of which the table has no feed that is young enough.'),
  partly: kindNames.describe('Kinds that only hand-kept tables or feeds cut short cover.'),
}

export const coverageAnswer = z
  .object({
    ...gaps,
    age_days: z
      .int()
      .describe('Days from the day of the table to the clock; only where they are more than 7.')
      .exactOptional(),
  })
  .describe('What the table does not know; absent where it covers every kind and is not old.')
export type CoverageAnswer = Wire<typeof coverageAnswer>

export const coverageReport = z.object({
  ...gaps,
  age_days: z.int().describe('Days from the day of the table to the clock.'),
  kinds: z
    .array(
      z.object({
        kind: z.enum(coveredKinds).describe('What its feeds claim of an address.'),
        state: z.enum(coverageStates).describe('How far the feeds of the table cover the kind.'),
        newest: day.nullable().describe('The newest day of its feeds; null where there is none.'),
        addresses: z.int().describe('IPv4 addresses that its feeds list.'),
      }),
    )
    .describe('One for each kind.'),
})
export type CoverageReport = Wire<typeof coverageReport>
