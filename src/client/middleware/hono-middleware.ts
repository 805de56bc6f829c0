// `iprisk-client/hono`: for Hono 4, on Node and on edge runtimes.
//
// On Node the peer is that of @hono/node-server. An edge runtime has no peer: say which of its
// headers names it, as on Cloudflare `{ trust: 1, header: 'cf-connecting-ip' }`, or give `peer`.

import type { Context as AnyContext } from 'hono'
import type { AddressedRequest } from '../address/client-address.ts'
import {
  type GuardOptions,
  type Judged,
  createRequestGuard,
  problemOf,
  problemType,
  report,
} from './request-guard.ts'

declare module 'hono' {
  // Gives `context.get('iprisk')` a type in every handler.
  interface ContextVariableMap {
    iprisk: Judged
  }
}

/** The parts of Hono's context that are used. */
export interface HonoContext {
  readonly req: { readonly raw: Request }
  readonly env: unknown
  set(name: 'iprisk', value: Judged): void
}

/** Answers a stopped request. */
export type HonoHandler<Context> = (context: Context) => Response | Promise<Response>

export interface HonoOptions<Context> extends GuardOptions<HonoHandler<Context>> {
  /** The peer's address, if the runtime knows it. */
  readonly peer?: (context: Context) => string | undefined
}

/**
 * The middleware; it sets the variable `iprisk`: `context.get('iprisk')`.
 *
 * @example app.post('/login', iprisk({ client, policy: 'login' }), handler)
 */
export function iprisk<Context extends HonoContext = AnyContext>(
  options: HonoOptions<Context>,
): (context: Context, next: () => Promise<void>) => Promise<Response | undefined> {
  const judge = createRequestGuard(options)
  const { peer } = options
  return async (context, next) => {
    const { headers } = context.req.raw
    const { judged, stop } = await judge(
      peer === undefined
        ? { headers, socket: nodeSocket(context) }
        : { headers, peer: peer(context) ?? '' },
      context,
    )
    context.set('iprisk', judged)
    if (stop === 'default') {
      return new Response(problemOf(judged), {
        status: 403,
        headers: { 'content-type': problemType },
      })
    }
    if (stop !== undefined) return stop(context)
    await next()
    return undefined
  }
}

iprisk.report = report

function nodeSocket({ env }: HonoContext): AddressedRequest['socket'] {
  const { incoming } = (env ?? {}) as { readonly incoming?: Pick<AddressedRequest, 'socket'> }
  return incoming?.socket
}

export type { GuardOptions, Judged } from './request-guard.ts'
