// `iprisk-client/fastify`: a hook for Fastify 5.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AddressedRequest } from '../address/client-address.ts'
import {
  type GuardOptions,
  createRequestGuard,
  problemOf,
  problemType,
  report,
} from './request-guard.ts'

/** The parts of Fastify's request that are used. */
export interface HookRequest {
  readonly headers: AddressedRequest['headers']
  readonly socket: AddressedRequest['socket']
}

/** The parts of Fastify's reply that are used. */
export interface HookReply {
  readonly sent: boolean
  code(status: number): HookReply
  header(name: string, value: string): HookReply
  send(body: unknown): HookReply
}

/** Answers a stopped request, with the reply or its return value. */
export type HookHandler<Incoming, Outgoing> = (request: Incoming, reply: Outgoing) => unknown

/** @example app.post('/login', { preHandler: iprisk({ client, policy: 'login' }) }, handler) */
export function iprisk<
  Incoming extends HookRequest = FastifyRequest,
  Outgoing extends HookReply = FastifyReply,
>(
  options: GuardOptions<HookHandler<Incoming, Outgoing>>,
): (request: HookRequest, reply: HookReply) => Promise<unknown> {
  const judge = createRequestGuard(options)
  return async (request, reply) => {
    const { judged, stop } = await judge(request)
    if (stop === undefined) return undefined
    if (stop === 'default') {
      reply.code(403).header('content-type', problemType).send(problemOf(judged))
      return reply
    }
    const answer = await stop(request as Incoming, reply as Outgoing)
    // A handler's return value is sent; a hook's is not, and the request would continue.
    if (answer !== undefined && answer !== reply && !reply.sent) reply.send(answer)
    return reply
  }
}

iprisk.report = report

export { ipriskOf } from './request-guard.ts'
export type { GuardOptions, Judged } from './request-guard.ts'
