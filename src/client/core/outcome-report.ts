// Says what happened: counts everything, calls the application's functions, and speaks up by itself
// where the application has given none and the server refuses what is sent: a wrong key must not
// let everybody in for weeks without a word.

import type { CheckOptions, ClientCounts, CountName, FailureReason } from './check-result.ts'
import { tell } from './tell.ts'

/** Why there is no answer, for people and logs. */
export interface ClientFailure {
  readonly reason: FailureReason
  /** The status of the server's answer, where there was one. */
  readonly status?: number
  /** The API's stable code and message (docs/errors.md), where the server gave them. */
  readonly code?: string
  readonly message: string
  readonly requestId?: string
  readonly cause?: unknown
}

/** Of a check of what is no address: whose fault that is. */
export function addressFailure(
  { noAddress: message }: Pick<CheckOptions, 'noAddress'>,
  otherwise: ClientFailure,
): ClientFailure {
  return message === undefined ? otherwise : { reason: 'misconfigured', message }
}

export interface OutcomeReport {
  readonly count: (name: CountName) => void
  /** Counts and, where it is not in `told`, tells; never throws. */
  readonly fail: (failure: ClientFailure, told?: Set<ClientFailure>) => void
  readonly counts: () => ClientCounts
}

/** A client without `onMisconfigured` repeats itself no sooner. */
const warningMs = 60_000

export function createOutcomeReport(options: {
  readonly onMisconfigured?: ((failure: ClientFailure) => unknown) | undefined
  readonly onUnavailable?: ((failure: ClientFailure) => unknown) | undefined
  readonly now: () => number
}): OutcomeReport {
  const { onUnavailable, now } = options
  const counts: Record<CountName, number> = {
    checked: 0,
    cached: 0,
    retried: 0,
    hedged: 0,
    opened: 0,
    timeout: 0,
    unavailable: 0,
    limited: 0,
    misconfigured: 0,
    invalid_address: 0,
  }
  let warnedAt = -Infinity
  const warn = ({ code = '', message }: ClientFailure): void => {
    if (now() - warnedAt < warningMs) return
    warnedAt = now()
    const why = JSON.stringify(`${code} ${message}`.trim())
    // oxlint-disable-next-line no-console -- the application's own, which gave no function for it
    console.error(`iprisk: nothing is checked (${counts.misconfigured} checks so far): ${why}`)
  }
  const onMisconfigured = options.onMisconfigured ?? warn

  return {
    count: (name) => {
      counts[name] += 1
    },
    fail: (failure, told) => {
      counts[failure.reason] += 1
      if (failure.reason === 'invalid_address' || told?.has(failure) === true) return
      told?.add(failure)
      tell(failure.reason === 'misconfigured' ? onMisconfigured : onUnavailable, failure)
    },
    counts: () => ({ ...counts }),
  }
}
