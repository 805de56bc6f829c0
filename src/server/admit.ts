// Who may make a call: the part of contract 3.12 between 405 and the body. 401, 403 plan, 403 token
// by the keyring, then 429 rate: every authenticated and permitted request spends one of its rate,
// whatever becomes of it.

import type { Authenticated, Denied } from '../account/keyring.ts'
import { admitResults } from '../account/limiter.ts'
import type { ApiErrorCode } from '../api/error.ts'
import { countLimited, limitedBy } from './counters.ts'
import type { Exchange } from './exchange.ts'
import type { HeaderPass } from './framing.ts'

/** The key is good and its rate is not. */
export interface Limited {
  readonly kind: 'limited'
  readonly code: Extract<ApiErrorCode, 'rate_limit_exceeded' | 'upstream_unavailable'>
}

const exceeded: Limited = { kind: 'limited', code: 'rate_limit_exceeded' }
const unavailable: Limited = { kind: 'limited', code: 'upstream_unavailable' }

/**
 * Judges the request's key, which is then the exchange's. A key given twice counts as none, for
 * nobody can say which one is meant.
 */
export function admit(exchange: Exchange, pass: HeaderPass): Authenticated | Denied | Limited {
  const { keyring, limiter, counters } = exchange.service
  const key = keyring.authenticate(pass.authorizations === 1 ? pass.authorization : '')
  // Who has read no keys yet cannot say that one is wrong.
  if (key.kind === 'denied') return keyring.known() ? key : unavailable
  exchange.key = key
  const result = limiter.admit(key.allowance, 1, exchange.startedMs)
  if (result === admitResults.granted) return key
  if (result === admitResults.unavailable) return unavailable
  countLimited(counters, limitedBy.rate)
  return exceeded
}
