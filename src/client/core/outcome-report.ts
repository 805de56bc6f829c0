// Reports outcomes: counts everything, calls the application's functions, and logs if it has none,
// because a wrong key or an unreachable server must not let every visitor in silently.

import type { CheckOptions, ClientCounts, CountName, FailureReason } from './check-result.ts'
import { createFailureLog, type FailureKind, tell } from './failure-log.ts'

export interface ClientFailure {
  readonly reason: FailureReason
  /** The status of the server's answer, if there was one. */
  readonly status?: number
  /** The API's stable code and message (docs/errors.md), if the server sent them. */
  readonly code?: string
  readonly message: string
  readonly requestId?: string
  readonly cause?: unknown
}

/** The failure of a check of something that is not an address. */
export function addressFailure(
  { noAddress: message }: Pick<CheckOptions, 'noAddress'>,
  otherwise: ClientFailure,
): ClientFailure {
  return message === undefined ? otherwise : { reason: 'misconfigured', message }
}

export type OutcomeReport = ReturnType<typeof createOutcomeReport>

export interface FailTerms {
  readonly told?: Set<ClientFailure>
  readonly isFeedback?: boolean
}

export function createOutcomeReport(options: {
  readonly onMisconfigured?: ((failure: ClientFailure) => unknown) | undefined
  readonly onUnavailable?: ((failure: ClientFailure) => unknown) | undefined
  readonly now: () => number
}) {
  const { onMisconfigured, onUnavailable, now } = options
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
    outcomes_sent: 0,
    outcomes_lost: 0,
  }
  const log = createFailureLog(now)

  return {
    count: (name: CountName, times = 1): void => {
      counts[name] += times
    },
    /** Counts and reports; never throws. */
    fail: (failure: ClientFailure, { told, isFeedback = false }: FailTerms = {}): void => {
      const { reason, code = '', message } = failure
      counts[reason] += 1
      if (reason === 'invalid_address') return
      const hook = reason === 'misconfigured' ? onMisconfigured : onUnavailable
      if (hook === undefined) {
        log.fail(isFeedback ? 'feedback' : kindOf(reason), `${code} ${message}`.trim())
      } else if (told?.has(failure) !== true) {
        told?.add(failure)
        tell(hook, failure)
      }
    },
    /** The server answered a check or, with `isFeedback`, feedback: an outage is over. */
    answered: (isFeedback = false): void => log.answered(isFeedback),
    counts: (): ClientCounts => ({ ...counts }),
  }
}

function kindOf(reason: FailureReason): FailureKind {
  return reason === 'misconfigured' || reason === 'limited' ? reason : 'outage'
}
