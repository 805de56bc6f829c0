// Hot path: `charge` while the key has leased units.
//
// What an exchange costs of its key's quota, one unit an address: at once nearly always; in a later
// turn where a worker must lease units first (quota.ts says when); else 429 or, where the quotas
// cannot be reached, 503.
// What is charged is owed until a 200 begins (reply.ts); every other end gives it back
// (exchange.ts), so that nobody who charges has to think of it.

import type { Authenticated } from '../../account/keyring.ts'
import { quotaResults } from '../../account/limits/quota.ts'
import { countEvent } from '../exchange/request-counters.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { replyInternalError } from '../reply/internal-error.ts'
import { replyError } from '../reply/reply.ts'

/** Takes all its units and goes on with `done`, or answers the exchange itself. */
export function chargeQuota(
  exchange: Exchange,
  key: Authenticated,
  done: (exchange: Exchange) => void,
): void {
  const { limiter, counters } = exchange.service
  const result = limiter.spendQuota(key.allowance, exchange.units, exchange.startedMs)
  if (result === quotaResults.granted) {
    exchange.refundableUnits = exchange.units
    exchange.refundableMonth = limiter.spentMonth(key.allowance)
    done(exchange)
  } else if (result === quotaResults.pending) {
    chargeWhenLeased(exchange, key, done)
  } else if (result === quotaResults.exceeded) {
    countEvent(counters, 'quotaLimited')
    replyError(exchange, 'api_quota_exceeded')
  } else {
    replyError(exchange, 'upstream_unavailable')
  }
}

/** Apart from `charge`: a closure in there would be garbage of every request that never waits. */
function chargeWhenLeased(
  exchange: Exchange,
  key: Authenticated,
  done: (exchange: Exchange) => void,
): void {
  const { limiter } = exchange.service
  limiter.whenLeased(key.allowance, () =>
    resumeExchange(exchange, () => chargeQuota(exchange, key, done)),
  )
}

/**
 * Goes on when the worker knows what is left of the key's quota: it takes a unit, which asks for
 * it, and gives it back. A quota that cannot be asked is no reason not to go on.
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

/** A later turn of the loop goes on with an exchange, if its client is still there. */
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
