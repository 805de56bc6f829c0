// The shapes of feedback (contract 5.6): what callers report of addresses, and what they are told.

import { z } from 'zod'
import { outcomeWords } from '../model/outcome-word.ts'

export const feedbackRequest = z
  .object({
    outcomes: z
      .array(
        z
          .object({
            ip: z.string().describe('The address.'),
            outcome: z.enum(outcomeWords).describe('What the traffic from it turned out to be.'),
            at: z
              .string()
              .describe('When it was seen, RFC 3339 with a zone, or a day; now by default.')
              .exactOptional(),
            note: z.string().describe('Why, or a reference of yours.').exactOptional(),
          })
          .describe('One address, and how it turned out.'),
      )
      .min(1)
      .max(1000)
      .meta({
        description: 'What is reported.',
        examples: [[{ ip: '198.18.0.6', outcome: 'abusive', note: 'took over an account' }]],
      }),
  })
  .describe('How addresses turned out.')

export const feedbackAnswer = z
  .object({
    accepted: z.int().describe('How many outcomes were kept: all of the request.'),
  })
  .describe('What was kept of the report.')
