// A batch on the wire (contract 3.16): many addresses in one request, answered in order, each as a
// check answers it or with an error of its own.

import { z } from 'zod'
import { invalidInput } from './input-fault.ts'
import { anyCheckAnswer } from './insights-answer.ts'
import { batchAddressesMax } from './request-limits.ts'
import type { Wire } from './wire.ts'

export const batchRequest = z.object({
  ips: z.array(z.string()).min(1).max(batchAddressesMax),
})

export const batchError = z.object({
  ip: z.string().describe('The element as sent; its JSON where it is no string.'),
  error: z.object({ code: z.enum([invalidInput]), message: z.string() }),
})

export const batchAnswer = z.object({
  results: z.array(z.union([anyCheckAnswer, batchError])),
})
export type BatchAnswer = Wire<typeof batchAnswer>
