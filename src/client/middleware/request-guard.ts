// What all middlewares do, independent of the framework: find the address, check it, and act on the
// decision. Each framework's file only reads requests and writes responses.
// Only a policy's decision, or the client's fallback, stops a request; a score alone never does.

import {
  type AddressHeader,
  type AddressedRequest,
  type Trust,
  lacksAddressSource,
} from '../address/client-address.ts'
import {
  type ProxyWalk,
  checkedHeader,
  headerOf,
  trustOf,
  walkProxies,
} from '../address/proxy-walk.ts'
import { trustMistake } from '../address/trust-mistake.ts'
import {
  type Action,
  type CheckOptions,
  type CheckResult,
  type Client,
  type Outcome,
  actionIn,
} from '../core/check-result.ts'
import type { AgentRequest, Previous } from '../generated/wire-types.ts'
import { createFailureLog, monotonicMs, tell } from '../core/failure-log.ts'
import { checkOptionTypes, optionError } from '../option-error.ts'

/** What is known about a request; set on it for the application. */
export interface Judged {
  readonly action: Action
  readonly result: CheckResult
  /** The address that was checked; `undefined` if unknown. */
  readonly address: string | undefined
  /** Whether the request was stopped, or would have been but for `observe`. */
  readonly observed: boolean
}

export interface GuardOptions<Handler> {
  readonly client: Pick<Client, 'check'> & Partial<Pick<Client, 'report'>>
  /** The policy that decides; without it the key's default. */
  readonly policy?: string
  readonly insights?: boolean
  /**
   * Where the user of a request (of a Koa or Hono context) came from before, for `travel`. What it
   * throws fails no check, nor does a promise that takes longer than 250 ms.
   */
  previous?(request: object): Previous | undefined | Promise<Previous | undefined>
  /** Sends the visitor's User-Agent and what signs its request, for `agent`. */
  readonly agents?: boolean
  /** Which proxies are believed (`clientAddress`). Default: none. */
  readonly trust?: Trust
  readonly header?: AddressHeader
  /** Stops no request, and logs what would have been done. */
  readonly observe?: boolean
  /**
   * Called for each request that is not allowed; default with `observe`: `console.info`. Its errors
   * are ignored.
   */
  readonly log?: (judged: Judged) => unknown
  /**
   * Answers in place of the application; default: 403 with a problem (RFC 9457). Also gets requests
   * while the key's rate or quota is used up, unless the client's `fallback` sets `limited`:
   * visitors can use up a key's rate, which must not let them in.
   */
  readonly challenge?: Handler
  readonly block?: Handler
  /** For the operator's own actions; one that is not here is a challenge. */
  readonly actions?: Readonly<Record<string, Handler>>
}

export interface Guarded<Handler> {
  readonly judged: Judged
  /** What answers in place of the application; `undefined`: continue. `default`: the framework's 403. */
  readonly stop: Handler | 'default' | undefined
}

/** No client address is known: that must not stop every visitor silently. */
const noAddress =
  "The peer's address is unknown, as over a Unix socket, and there is no trusted header: " +
  'set `trust` to the number of proxies (`trust: 1`).'

const previousWaitMs = 250

/** From a client that the application itself has written. */
const noAction = 'The client returned a decision or fallback without a non-empty action string.'

/**
 * Returns the function that judges a request, which rejects only for a wrong `trust` or `header`.
 * Throws a TypeError at once if an option is wrong.
 */
export function createRequestGuard<Handler>(options: GuardOptions<Handler>) {
  checkGuardOptions(options)
  const { client, trust = 0, header = 'x-forwarded-for', observe = false } = options
  const checkOptions: CheckOptions = {
    ...(options.policy === undefined ? {} : { policy: options.policy }),
    ...(options.insights === undefined ? {} : { insights: options.insights }),
    ...(handlerOf(options, 'challenge') === undefined ? {} : { whenLimited: 'challenge' }),
  }
  const { log = observe ? logToConsole : undefined } = options
  const from = { trust, header: checkedHeader(header) }
  trustOf(trust)

  async function check(request: AddressedRequest, walk: ProxyWalk, known: object) {
    const { address } = walk
    const mistake =
      address !== undefined
        ? trustMistake(request, from, walk)
        : lacksAddressSource(request, from)
          ? noAddress
          : undefined
    const told = mistake === undefined ? checkOptions : { ...checkOptions, noAddress: mistake }
    if (address === undefined) return client.check('', told)
    const previous = await previousOf(options, known)
    const context = {
      ...(previous === undefined ? {} : { previous }),
      ...(options.agents === true && { agent: agentOf(request, known) }),
    }
    const result = await client.check(address, { ...checkOptions, ...context })
    if (mistake === undefined) return result
    const mistaken = await client.check('', told)
    // Any client can write the header that shows the mistake, so it reverses no decision to stop.
    return actionOf(result) === 'allow' ? mistaken : result
  }

  /** `known` is the application's own request or context, if `request` is made from it. */
  return async (request: AddressedRequest, known: object = request): Promise<Guarded<Handler>> => {
    const walk = walkProxies(request, from)
    let result = await check(request, walk, known)
    if (actionOf(result) === undefined) {
      result = await client.check('', { ...checkOptions, noAddress: noAction })
    }
    const action = actionOf(result) ?? 'challenge'
    const judged = { action, result, address: walk.address, observed: observe }
    judgedRequests.set(known, { judged, client })
    if (action === 'allow') return { judged, stop: undefined }
    tell(log, judged)
    return { judged, stop: observe ? undefined : (handlerOf(options, action) ?? 'default') }
  }
}

/** Null where the function failed or was too slow: the server reports it in `context_errors`. */
async function previousOf<Handler>(options: GuardOptions<Handler>, known: object) {
  if (options.previous === undefined) return undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const failed = null as unknown as Previous
  const late = new Promise<Previous>((resolve) => {
    timer = setTimeout(() => resolve(failed), previousWaitMs)
  })
  const ask = async () => options.previous?.(known)
  try {
    return await Promise.race([ask(), late])
  } catch {
    return failed
  } finally {
    clearTimeout(timer)
  }
}

/** Applications behind a proxy see its scheme, so that of the visitor is taken to be https. */
function agentOf(request: AddressedRequest, known: object): AgentRequest {
  const of = (name: string): string => headerOf(request, name) ?? ''
  const agent = { user_agent: of('user-agent').slice(0, 1024) }
  if (of('signature') === '') return agent
  const { req } = known as { req?: { raw?: object } }
  const asked = (req?.raw ?? req ?? known) as Record<string, unknown>
  // better-auth hands on headers alone.
  const { method = 'POST', url = '/', originalUrl = url } = asked
  const path = String(originalUrl).replace(/^https?:\/\/[^/]*/i, '')
  const line = { method: String(method), scheme: 'https', authority: of('host'), path }
  const headers = {
    signature: of('signature'),
    'signature-input': of('signature-input'),
    'signature-agent': of('signature-agent'),
  }
  return { ...agent, signature: { ...line, headers } }
}

const judgedRequests = new WeakMap<
  object,
  { readonly judged: Judged; readonly client: GuardOptions<never>['client'] }
>()
const mistakes = createFailureLog(monotonicMs)

/**
 * The result of a request that went through the middleware.
 *
 * @example if (ipriskOf(request)?.action === 'challenge') askForSecondFactor()
 */
export function ipriskOf(request: object): Judged | undefined {
  return judgedRequests.get(request)?.judged
}

/**
 * Reports how the login of a request turned out, or of a Hono or Koa context: `client.report` of
 * the address that was checked.
 *
 * @example if (!(await isPassword(user, password))) void iprisk.report(request, 'abusive')
 */
export async function report(request: object, outcome: Outcome['outcome']): Promise<boolean> {
  const { judged, client } = judgedRequests.get(request) ?? {}
  if (judged !== undefined && client?.report !== undefined) {
    const { address = '', result } = judged
    return client.report(address, outcome, result.ok ? result.requestId : undefined)
  }
  mistakes.fail('feedback', 'the request passed no middleware whose client has `report`')
  return false
}

/** `undefined` unless it is a non-empty string. */
function actionOf(result: CheckResult): Action | undefined {
  const decision = result.ok ? result.decision : { action: result.fallback }
  return decision === undefined ? 'allow' : actionIn(decision)
}

/** Callers without types see their mistakes at the start, not at the first login. */
function checkGuardOptions<Handler>(options: GuardOptions<Handler>): void {
  checkOptionTypes(options, {
    policy: 'string',
    insights: 'boolean',
    observe: 'boolean',
    agents: 'boolean',
    log: 'function',
    challenge: 'function',
    block: 'function',
    actions: 'object',
    outcome: 'function',
    peer: 'function',
    previous: 'function',
  })
  const { client, policy, actions = {} } = options
  if (typeof (client as Partial<typeof client> | undefined)?.check !== 'function') {
    throw optionError('`client` must be a client, such as one from `createClient`.')
  }
  if (policy === '') throw optionError('`policy` must not be empty; leave it out for the default.')
  for (const [word, handler] of Object.entries(actions)) {
    if (typeof handler !== 'function') throw optionError(`\`actions.${word}\` must be a function.`)
  }
}

function handlerOf<Handler>(options: GuardOptions<Handler>, action: Action): Handler | undefined {
  const { challenge, block, actions = {} } = options
  if (Object.hasOwn(actions, action)) return actions[action]
  return action === 'block' ? block : challenge
}

function logToConsole({ action, address, result }: Judged): void {
  const why = result.ok ? (result.decision?.rule ?? '') : result.reason
  // oxlint-disable-next-line no-console -- the application's own, which gave no function for it
  console.info(`iprisk would ${action} ${address ?? 'an unknown address'}: ${why}`)
}

export const problemType = 'application/problem+json'

/** The default response: a problem (RFC 9457) that does not reveal the reasons. */
export function problemOf(judged: Judged): string {
  const [detail, { action }] = [problemDetail(judged), judged]
  return JSON.stringify({ type: 'about:blank', title: 'Forbidden', status: 403, detail, action })
}

export function problemDetail({ action }: Judged): string {
  return action === 'block'
    ? 'This request is not allowed from your network.'
    : 'This request requires further proof of your identity.'
}
