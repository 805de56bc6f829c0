// `iprisk-client/better-auth`: a plugin for better-auth 1, which checks sign-ins and sign-ups.
//
// better-auth gives no peer, so that proxies are counted. Nothing of it is imported when this runs:
// a hook's handler returns what its `createAuthMiddleware` would, and it knows its errors by name.

import type { BetterAuthPlugin } from 'better-auth'
import type { Outcome } from '../core/check-result.ts'
import { tell } from '../core/failure-log.ts'
import {
  type GuardOptions,
  type Judged,
  createRequestGuard,
  problemDetail,
  report,
} from './request-guard.ts'

type Hook = NonNullable<NonNullable<BetterAuthPlugin['hooks']>['before']>[number]

/** What better-auth hands to a hook; in `context.returned` is what came of the attempt. */
export type HookContext = Parameters<Hook['matcher']>[0]

/**
 * Answers an attempt that is stopped: by what it returns, or by an `APIError` that it throws. As in
 * each hook of better-auth, the attempt continues if it returns nothing: the proof was there.
 */
export type HookHandler = (context: HookContext) => unknown

export interface BetterAuthOptions extends GuardOptions<HookHandler> {
  /**
   * How an attempt turned out, which is then reported; `undefined` where that is not known. By
   * default refused credentials (401) are `abusive`, and a sign-in that succeeds is not known: the
   * password may be stolen. What it throws is ignored.
   */
  readonly outcome?: (context: HookContext) => Outcome['outcome'] | undefined
}

/**
 * Checks sign-ins and sign-ups before better-auth looks at them, and reports outcomes after. Stopped
 * ones get an `APIError` 403 with the code `IPRISK_BLOCK` or `IPRISK_CHALLENGE`, unless `block` or
 * `challenge` answers.
 *
 * @example betterAuth({ plugins: [iprisk({ client, policy: 'login', trust: 1 })] })
 */
export function iprisk(options: BetterAuthOptions): Pick<BetterAuthPlugin, 'id' | 'hooks'> {
  const { outcome = refusedCredentials } = options
  const judge = createRequestGuard(options)
  const before = async (context: HookContext): Promise<unknown> => {
    const headers = context.headers ?? new Headers()
    const { judged, stop } = await judge({ headers }, headers)
    if (stop === 'default') throw refusal(judged)
    return stop?.(context)
  }
  const after = (context: HookContext): void => {
    tell((about: HookContext) => {
      const known = outcome(about)
      // Both hooks get the same headers of a request, and other objects around them.
      if (known !== undefined && about.headers) void report(about.headers, known)
    }, context)
  }
  return { id: 'iprisk', hooks: { before: [hookOf(before)], after: [hookOf(after)] } }
}

function hookOf(run: (context: HookContext) => unknown): Hook {
  const handler = async (context: HookContext & { readonly returnHeaders?: boolean }) => {
    const response = await run(context)
    return context.returnHeaders === true ? { headers: undefined, response } : response
  }
  return {
    matcher: ({ path = '' }) => /^\/sign-(?:in|up)\//.test(path),
    handler: handler as Hook['handler'],
  }
}

function refusedCredentials({ context }: HookContext): 'abusive' | undefined {
  const { statusCode } = (context.returned ?? {}) as { readonly statusCode?: unknown }
  return statusCode === 401 ? 'abusive' : undefined
}

function refusal(judged: Judged): Error {
  const code = judged.action === 'block' ? 'IPRISK_BLOCK' : 'IPRISK_CHALLENGE'
  const message = problemDetail(judged)
  return Object.assign(new Error(message), {
    name: 'APIError',
    status: 'FORBIDDEN',
    statusCode: 403,
    headers: {},
    body: { code, message },
  })
}

export type { GuardOptions, Judged } from './request-guard.ts'
