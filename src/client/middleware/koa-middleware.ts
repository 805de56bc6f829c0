// `iprisk-client/koa`: for Koa.

import type { ParameterizedContext } from 'koa'
import type { AddressedRequest } from '../address/client-address.ts'
import {
  type GuardOptions,
  type Judged,
  createRequestGuard,
  problemOf,
  problemType,
  report,
} from './request-guard.ts'

/** The parts of Koa's context that are used. */
export interface KoaContext {
  readonly req: Pick<AddressedRequest, 'headers' | 'socket'>
  state: object
  status: number
  type: string
  body: unknown
}

/** Answers a stopped request; `next` lets it continue. */
export type KoaHandler<Context> = (context: Context, next: () => Promise<unknown>) => unknown

/**
 * The middleware; it sets `context.state.iprisk`.
 *
 * @example router.post('/login', iprisk({ client, policy: 'login' }), handler)
 */
export function iprisk<Context extends KoaContext = ParameterizedContext>(
  options: GuardOptions<KoaHandler<Context>>,
): (context: Context, next: () => Promise<unknown>) => Promise<void> {
  const judge = createRequestGuard(options)
  return async (context, next) => {
    const { judged, stop } = await judge(context.req, context)
    ;(context.state as { iprisk?: Judged }).iprisk = judged
    if (stop === undefined) {
      await next()
    } else if (stop === 'default') {
      context.status = 403
      context.body = problemOf(judged)
      context.type = problemType
    } else {
      await stop(context, next)
    }
  }
}

iprisk.report = report

export type { GuardOptions, Judged } from './request-guard.ts'
