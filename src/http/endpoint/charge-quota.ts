// Hot path: `chargeQuota` while the key has leased units. No allocation, throw or closure there.
// Charges an exchange's cost, one unit per address. Mostly that is granted at once and the
// caller answers in the same turn. If the worker must lease units first, it is pending, and a
// closure continues in a later turn. If the quota is used up or the store is unreachable, the
// charge answers 429 or 503. The units stay refundable until a 200 begins (reply.ts); every other
// end refunds them (exchange.ts).

import type { Authenticated } from '../../account/keyring.ts'
import { type QuotaResult, quotaResults } from '../../account/limits/quota.ts'
import type { Context } from '../../context/context.ts'
import { countEvent } from '../../observe/request-counters.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { replyError, replyInternalError } from '../reply/reply.ts'

/**
 * Charges all units or none. After `granted` the caller answers; after `pending` it calls
 * `chargeWhenLeased`; after any other result the exchange has its answer.
 */
export function chargeQuota(exchange: Exchange, key: Authenticated): QuotaResult {
  const { limiter, counters } = exchange.service
  const result = limiter.spendQuota(key.allowance, exchange.units, exchange.startedMs)
  if (result === quotaResults.granted) {
    exchange.refundableUnits = exchange.units
    exchange.refundableMonth = limiter.spentMonth(key.allowance)
  } else if (result === quotaResults.exceeded) {
    countEvent(counters, 'quotaLimited')
    replyError(exchange, 'api_quota_exceeded')
  } else if (result === quotaResults.unavailable) {
    replyError(exchange, 'upstream_unavailable')
  }
  return result
}

/** Charges in a later turn, once the units are leased; then calls `done`. */
export function chargeWhenLeased(exchange: Exchange, key: Authenticated, done: () => void): void {
  exchange.service.limiter.whenLeased(key.allowance, () =>
    resumeExchange(exchange, () => chargeThen(exchange, key, done)),
  )
}

export function chargeThen(exchange: Exchange, key: Authenticated, done: () => void): void {
  const result = chargeQuota(exchange, key)
  if (result === quotaResults.granted) done()
  else if (result === quotaResults.pending) chargeWhenLeased(exchange, key, done)
}

/** Calls `done` at once where nothing is signed (contract 6.6: agents), else when that is verified. */
export function judgeThen(
  exchange: Exchange,
  contexts: readonly (Context | undefined)[],
  done: () => void,
): void {
  const signed = contexts.flatMap((context) => context?.agent?.value.signed ?? [])
  const claims = signed.filter(({ signatures }) => signatures.length > 0)
  if (claims.length === 0) done()
  else void exchange.service.verifier.verify(claims).then(() => resumeExchange(exchange, done))
}

/**
 * Calls `done` once the worker knows what is left of the key's quota, or cannot ask: it spends a
 * unit, which leases some if it holds none, and refunds it.
 */
export function ensureQuotaKnown(exchange: Exchange, key: Authenticated, done: () => void): void {
  const { limiter } = exchange.service
  const result = limiter.spendQuota(key.allowance, 1, exchange.startedMs)
  if (result === quotaResults.granted) {
    const month = limiter.spentMonth(key.allowance)
    limiter.refund(key.allowance, { units: 1, month, arrivedMs: exchange.startedMs })
  }
  if (result !== quotaResults.pending) done()
  else limiter.whenLeased(key.allowance, () => resumeExchange(exchange, done))
}

/** In a later turn of the loop, if the client is still connected. */
export function resumeExchange(exchange: Exchange, work: () => void): void {
  if (exchange.state !== exchangeStates.open) return
  exchange.res.cork(() => {
    try {
      work()
    } catch (error) {
      replyInternalError(exchange, error)
    }
  })
}
