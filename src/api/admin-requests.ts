// Bodies of requests that the console's process reads, in one place for it and for the administrative
// API's document: the primary loads these, and nothing that computes.

import { z } from 'zod'
import { consoleAddressesMax } from '../base/limits.ts'
import { defaultPolicyName } from '../model/policy-form.ts'

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
