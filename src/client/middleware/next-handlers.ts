// `iprisk-client/next`: for Next 16, a route handler behind the check, and a `proxy.ts`.
//
// Next gives no peer, so that proxies are counted. Without any in front, Next forwards the client's
// own header, and no address can be trusted.

import { type GuardOptions, createRequestGuard, problemOf, problemType } from './request-guard.ts'

/** Answers a stopped request. */
export type NextHandler = (request: Request) => Response | Promise<Response>

/**
 * A route handler behind the check; in it `ipriskOf(request)` has the result.
 *
 * @example export const POST = guarded({ client, policy: 'login', trust: 1 }, handler)
 */
export function guarded<Incoming extends Request, Context, Outgoing extends Response>(
  options: GuardOptions<NextHandler>,
  handler: (request: Incoming, context: Context) => Outgoing | Promise<Outgoing>,
): (request: Incoming, context: Context) => Promise<Response> {
  const stopped = stopperOf(options)
  return async (request, context) => (await stopped(request)) ?? handler(request, context)
}

/**
 * The function of `proxy.ts`: responds if the request is stopped, else Next continues.
 *
 * @example export const proxy = ipriskProxy({ client, policy: 'login', trust: 1 })
 */
export function ipriskProxy(
  options: GuardOptions<NextHandler>,
): (request: Request) => Promise<Response | undefined> {
  return stopperOf(options)
}

function stopperOf(
  options: GuardOptions<NextHandler>,
): (request: Request) => Promise<Response | undefined> {
  const judge = createRequestGuard(options)
  return async (request) => {
    const { judged, stop } = await judge({ headers: request.headers }, request)
    if (stop !== 'default') return stop?.(request)
    return new Response(problemOf(judged), {
      status: 403,
      headers: { 'content-type': problemType },
    })
  }
}

export { ipriskOf, report } from './request-guard.ts'
export type { GuardOptions, Judged } from './request-guard.ts'
