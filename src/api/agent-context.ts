// The agent of a check (contract 6.6: agents): what a caller forwards of its visitor's request, and
// what the answer says of it.

import { z } from 'zod'
import { agentCategories, agentStatuses, identifications, signatureHeaders } from '../model/kind.ts'
import { membersOf, type Wire } from './wire.ts'

const signedRequest = z
  .object({
    method: z.string().describe('The HTTP method.'),
    scheme: z.string().describe('`https` or `http`.'),
    authority: z.string().describe('The host that the visitor requested, with its port if any.'),
    path: z.string().describe('With the query: `/login?next=%2F`.'),
    headers: membersOf(
      signatureHeaders,
      z.string().describe('The header, as the visitor sent it.'),
    ).describe('The three headers of a signed request.'),
  })
  .describe("The visitor's request, if it is signed (Web Bot Auth, RFC 9421).")
export type SignedRequest = Wire<typeof signedRequest>

export const agentRequest = z
  .object({
    user_agent: z.string().describe("The visitor's header `User-Agent`.").exactOptional(),
    signature: signedRequest.exactOptional(),
  })
  .describe('Who the visitor claims to be; at most 8 KiB, `user_agent` at most 1 KiB.')

export const agentAnswer = z
  .object({
    status: z
      .enum(agentStatuses)
      .describe('`spoofed`: the operator publishes its ranges, and the address is not in them.'),
    name: z.string().describe('The agent: `Googlebot`; empty if unknown.'),
    operator: z.string().describe('Its operator.'),
    category: z.enum(agentCategories).describe('Its purpose.'),
    identified_by: z.enum(identifications).describe('The proof; empty unless verified.'),
    directory: z.string().describe('URL of the directory with the signing key, or empty.'),
  })
  .describe('Who the visitor is; absent unless the check has `agent`.')
export type AgentAnswer = Wire<typeof agentAnswer>
