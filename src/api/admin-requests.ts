// Bodies of the administrative API's requests: one zod schema gives the check, its part of
// /admin/openapi.json and the route's type. A message completes "<member> must be …". Workers and
// the console's page load none of this.

import { z } from 'zod'
import { listDaysMax, rotationGraceHours, rotationGraceHoursMax } from '../base/limits.ts'
import { apiNames } from '../config/plan.ts'
import * as is from '../config/setting-checks.ts'
import { isAddress } from '../ip/address-fault.ts'
import { actEntriesMax, noteBytesMax } from '../lists/list-limits.ts'
import { listEffects } from '../model/kind.ts'
import { defaultPolicyName } from '../model/policy-form.ts'

/** What a person pastes; `iprisk check` has no such limit. */
export const consoleAddressesMax = 10_000
/** A log for a rehearsal: some 10,000 requests. */
export const consoleLogBytesMax = 2_000_000

export function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

const wide = 'Accept very wide entries, too'
const texts = z.array(z.string('an array of strings'), 'an array of strings')
/** Their number is checked where they are added or removed, whatever the way in. */
const entries = texts.meta({
  minItems: 1,
  maxItems: actEntriesMax,
  description: 'Addresses, prefixes (192.0.2.0/24), ranges (192.0.2.1-192.0.2.9), AS64496.',
})

export const listCreation = z.strictObject({
  name: z.string('a text'),
  effect: is.oneOf(listEffects).default('none'),
})

export const entriesAddition = z.strictObject({
  entries,
  for: is.listSpan
    .optional()
    .describe(`How long they last: 90m, 12h, 7d; at most ${listDaysMax}d.`),
  note: z.string('a text').optional().describe(`A comment; at most ${noteBytesMax} bytes.`),
  force: is.onOff.optional().describe(`${wide}.`),
})

export const entriesRemoval = z.object({ entries })

export const listLines = texts
  .max(actEntriesMax, `at most ${actEntriesMax} lines`)
  .describe('The lines of a file in any form that `iprisk lists import` reads.')

export const listImport = z.object({
  lines: listLines,
  replace: is.onOff.optional().describe('Replace existing entries (one request).'),
  force: is.onOff.optional().describe(`${wide}; replace despite skipped lines or none.`),
  preview: is.onOff.optional().describe('Change nothing; report what the import would do.'),
})

export type ListImport = z.output<typeof listImport>

export const keyCreation = z.strictObject({
  name: is.keyName.optional(),
  plan: z.string('the name of a plan').optional(),
  api: z.union([is.oneOf([...apiNames, 'none']).transform((one) => [one]), is.keyApis]).optional(),
  rate: is.perSecond.optional(),
  burst: is.burst.optional(),
  quota: is.quota.optional(),
  policies: is.policyNames.optional(),
  test: is.onOff.default(false),
  expires: is.dayOrDays.optional(),
})

export const keyRotation = z.strictObject({
  grace_hours: is.whole([0, rotationGraceHoursMax], 'hours').default(rotationGraceHours),
})

/** src/policy checks them and names each mistake, unknown members included. */
const policies = z.unknown().optional().meta({ type: 'object' })

export const policiesDraft = z.object({ policies }).meta({ required: ['policies'] })

export const policiesChange = z
  .object({
    policies,
    revision: z
      .string('that of the file, or null for none')
      .nullable()
      .describe('The revision of the file that was changed.'),
    file_tag: z
      .string('that of the file, or left out')
      .optional()
      .describe('The tag of the same file, which also changes with its descriptions.'),
  })
  .meta({ required: ['policies', 'revision'] })

export const tableReload = z.object({
  force: is.onOff.optional().describe('Skip the trials against the table in use.'),
})

export const addressesRequest = z.strictObject({
  addresses: z.array(z.string()).min(1).max(consoleAddressesMax),
  policy: z.string().optional(),
})

export const rehearsalRequest = z.strictObject({
  policies: z.record(z.string(), z.unknown()).optional(),
  policy: z.string().default(defaultPolicyName),
  log: z.string().optional(),
  sample: z.literal(true).optional(),
})

export const pastDayRequest = z.strictObject({
  ip: is.textOf('an address', isAddress),
  day: is.day,
})

export const setTrial = z.strictObject({ condition: z.string('a text') })
