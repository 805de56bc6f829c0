// Bodies of requests that the console's process reads, in one place for it and for the administrative
// API's document: the primary loads these, and nothing that computes.

import { z } from 'zod'
import { defaultPolicyName } from '../model/policy-form.ts'

/** What a person pastes; `iprisk check` takes any number. */
export const consoleAddressesMax = 10_000
/** A log for a rehearsal: some 10,000 requests. */
export const consoleLogBytesMax = 2_000_000

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

/** As JSON Schema. */
export const addressesBody = z.toJSONSchema(addressesRequest)
export const rehearsalBody = z.toJSONSchema(rehearsalRequest, { io: 'input' })
