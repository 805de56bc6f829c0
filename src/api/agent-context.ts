// The agent of a check (contract 6.6): what a caller hands on of its visitor's request, and what the
// answer says of it.

import { z } from 'zod'
import { agentCategories, agentStatuses } from '../model/agent.ts'
import type { Wire } from './wire.ts'

const signedRequest = z
  .object({
    method: z.string(),
    scheme: z.string().describe('`https` or `http`.'),
    authority: z.string().describe('The host that the visitor asked, with its port if any.'),
    path: z.string().describe('With the query: `/login?next=%2F`.'),
    headers: z.object({
      signature: z.string(),
      'signature-input': z.string(),
      'signature-agent': z.string(),
    }),
  })
  .describe("The visitor's request, where it is signed (Web Bot Auth, RFC 9421).")
export type SignedRequest = Wire<typeof signedRequest>

export const agentRequest = z
  .object({
    user_agent: z.string().max(1024).exactOptional(),
    signature: signedRequest.exactOptional(),
  })
  .describe('Who the visitor says it is; at most 8 KiB.')
export type AgentRequest = Wire<typeof agentRequest>

export const agentAnswer = z
  .object({
    status: z
      .enum(agentStatuses)
      .describe('`spoofed`: the operator publishes its ranges, and they lack the address.'),
    name: z.string().describe('The agent: `Googlebot`; empty where none is known.'),
    operator: z.string().describe('Who runs it.'),
    category: z.enum([...agentCategories, '']).describe('What it is for.'),
    identified_by: z.enum(['signature', 'published_range', '']),
    directory: z.string().describe('The URL whose key has signed the request, or empty.'),
  })
  .describe('Who the visitor is, where the check names an agent.')
export type AgentAnswer = Wire<typeof agentAnswer>
