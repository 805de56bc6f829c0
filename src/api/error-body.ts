// The body of an error on the wire (contract 3.11); api-error.ts has its codes and writes it.

import { z } from 'zod'
import { apiErrorCodes } from './api-error.ts'
import type { Wire } from './wire.ts'

export const errorAnswer = z
  .object({
    error: z
      .object({
        code: z.enum(apiErrorCodes).describe('Stable; programs decide by it.'),
        message: z.string().describe('What is wrong, and what to do. For people: it may change.'),
        param: z
          .string()
          .describe('The member of the body, or of the query, that is wrong, where one is.')
          .exactOptional(),
        doc_url: z.string().describe('Where the code is described: a path below /docs.'),
        request_id: z.string().describe("Also in X-Request-Id, and in the server's log."),
      })
      .describe('What is wrong, and what to do.'),
  })
  .describe('What the server answers where it does not answer the question.')
export type ErrorBody = Wire<typeof errorAnswer>
