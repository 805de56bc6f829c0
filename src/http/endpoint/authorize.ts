// Decides whether a call may be made: the part of contract 3.12 (order of errors) between 405 and
// the body. Every authenticated and permitted request spends one of its rate, whatever its answer
// is. A batch spends the rest of its cost when its size is known.

import { performance } from 'node:perf_hooks'
import type { Authenticated, Denied } from '../../account/keyring.ts'
import { type RateResult, rateResults } from '../../account/limits/rate.ts'
import type { ApiErrorCode, ErrorDetail } from '../../api/api-error.ts'
import { type InputFault, invalidInput, policyFaults } from '../../api/input-fault.ts'
import { addressesPerRequest } from '../../api/public-port.ts'
import type { ApiName } from '../../config/plan.ts'
import { countEvent } from '../../observe/request-counters.ts'
import { policyIndexOf } from '../../policy/policy.ts'
import { defaultPolicyName } from '../../model/policy-form.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { HeaderScan } from '../listen/framing-guard.ts'
import { replyError } from '../reply/reply.ts'
import { resumeExchange } from './charge-quota.ts'

interface Limited {
  readonly kind: 'limited'
  readonly code: Extract<ApiErrorCode, 'rate_limit_exceeded' | 'upstream_unavailable'>
}

const exceeded: Limited = { kind: 'limited', code: 'rate_limit_exceeded' }
const unavailable: Limited = { kind: 'limited', code: 'upstream_unavailable' }

/** For an adapter's request: its own header, and the API that its key must allow. */
export interface Credential {
  readonly api: Extract<ApiName, 'bouncer' | 'lists'>
  /** In the form of an Authorization header. */
  readonly authorization: string
}

/** The only denial that bouncers know. */
const notBouncer: Denied & Pick<ErrorDetail, 'message'> = {
  kind: 'denied',
  status: 403,
  code: 'token_not_allowed_for_api',
  message: "X-Api-Key must be a bouncer's key: iprisk keys create --api bouncer",
}

/** Sets the request's key in the exchange. A key given twice is ambiguous and counts as none. */
export function authorize(
  exchange: Exchange,
  scan: HeaderScan,
  credential: Credential | undefined,
): Authenticated | Denied | Limited {
  const { keyring, limiter, counters } = exchange.service
  if (credential !== undefined) exchange.source = credential.api
  const key =
    credential === undefined
      ? keyring.authenticate(scan.authorizationCount === 1 ? scan.authorization : '')
      : keyring.authenticate(credential.authorization, credential.api)
  // A worker that has not read any keys yet cannot call this one wrong.
  if (key.kind === 'denied') {
    if (!keyring.known()) return unavailable
    return credential?.api === 'bouncer' ? notBouncer : key
  }
  exchange.key = key
  const result = limiter.spendRate(key.allowance, 1, exchange.startedMs)
  if (result === rateResults.granted) return key
  if (result === rateResults.unavailable) return unavailable
  if (!key.isTest) countEvent(counters, 'rateLimited')
  return exceeded
}

/** For at least one address, in a body's member `param`. Calls `done`, or answers the error. */
export function spendBatchRate(
  exchange: Exchange,
  key: Authenticated,
  { count, param }: { readonly count: number; readonly param: string },
  done: () => void,
): void {
  const { limiter } = exchange.service
  const { rate } = key.limits
  exchange.rateCost = Math.ceil(count / addressesPerRequest)
  if (rate !== undefined && exchange.rateCost > rate.burst) {
    replyError(exchange, invalidInput, { message: tooLarge(count, rate.burst), param })
    return
  }
  // The first unit was spent when the request was admitted.
  const more = exchange.rateCost - 1
  const end = (result: RateResult): void => {
    if (result === rateResults.granted) {
      done()
      return
    }
    const isRate = result === rateResults.exceeded
    if (isRate && !key.isTest) countEvent(exchange.service.counters, 'rateLimited')
    replyError(exchange, isRate ? 'rate_limit_exceeded' : 'upstream_unavailable')
  }
  if (more === 0) {
    done()
    return
  }
  // Not `startedMs`: the body may have come long after the headers (rate.ts).
  const result = limiter.spendRate(key.allowance, more, performance.now())
  if (result !== rateResults.pending) end(result)
  else {
    limiter.spendRateLater(key.allowance, more, (late) => resumeExchange(exchange, () => end(late)))
  }
}

function tooLarge(count: number, burst: number): string {
  return (
    `A batch of ${count} addresses spends ${Math.ceil(count / addressesPerRequest)} of the rate ` +
    `limit at once, but the burst of this key is ${burst}: send at most ${burst * addressesPerRequest} ` +
    'addresses in one batch.'
  )
}

/** Stores the policy that a body names (contract 5.4: decision), or says why it is refused. */
export function takePolicy(
  exchange: Exchange,
  key: Authenticated,
  named: unknown,
): InputFault | undefined {
  const set = exchange.service.policies.set()
  if (set === undefined) return undefined
  if (typeof named !== 'string') return policyFaults.no_string
  if (named === '' || policyIndexOf(set, key.policies, named) < 0) return policyFaults.not_allowed
  exchange.policy = named
  return undefined
}

/** The policies that elements of a batch may name; `undefined` without policies. */
export function allowedPolicies(
  { service }: Exchange,
  { policies = [defaultPolicyName] }: Authenticated,
): readonly string[] | undefined {
  const set = service.policies.set()
  return set && policies.filter((name) => set.indexOf(name) >= 0)
}
