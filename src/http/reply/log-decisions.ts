// Puts the answers of a request into the trail of decisions, where the operator wants one.

import { type Exchange, requestIdOf } from '../exchange/exchange.ts'

/** `answers` as `DecisionLog.record` takes them; `revision`: of the policies that decided. */
export function logDecisions(
  exchange: Exchange,
  answers: Uint8Array,
  revision: string | undefined,
): void {
  const { service, key } = exchange
  if (service.decisionLog === undefined) return
  const context = { requestId: requestIdOf(exchange), keyId: key?.keyId ?? '', revision }
  service.decisionLog.record(answers, context)
}
