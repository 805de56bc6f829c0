// A batch on the wire (contract 3.16): many addresses in one request, answered in order, each as a
// check answers it or with an error of its own.

import { z } from 'zod'
import { invalidInput } from './input-fault.ts'
import { anyCheckAnswer } from './insights-answer.ts'
import { batchAddressesMax } from './public-port.ts'
import { policyName } from './check-answer.ts'
import type { Wire } from './wire.ts'

export const batchRequest = z
  .object({
    ips: z
      .array(z.string())
      .min(1)
      .max(batchAddressesMax)
      .meta({ description: 'The addresses.', examples: [['198.18.0.1', '198.18.0.6']] }),
    policy: policyName.exactOptional(),
  })
  .describe('The addresses to be checked.')

export const batchError = z
  .object({
    ip: z.string().describe('The element as sent; its JSON where it is no string.'),
    error: z
      .object({
        code: z.enum([invalidInput]).describe('Always this one.'),
        message: z.string().describe('What is wrong with the element.'),
      })
      .describe('Why this element has no answer.'),
  })
  .describe('The row of an element that is no address.')

export const batchAnswer = z
  .object({
    results: z
      .array(z.union([anyCheckAnswer, batchError]))
      .describe('One for each element of ips, in their order.'),
  })
  .describe('A row for each element of the request.')
export type BatchAnswer = Wire<typeof batchAnswer>
