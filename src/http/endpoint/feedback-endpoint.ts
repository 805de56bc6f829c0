// POST /v1/intelligence/ip-risk/feedback (contract 5.6: feedback). A request is stored whole or not
// at all, and is on its way to the disk when it is answered. It spends only rate.

import type { Authenticated } from '../../account/keyring.ts'
import { type InputFault, feedbackFaults, invalidInput } from '../../api/input-fault.ts'
import type { ErrorDetail } from '../../api/api-error.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { msPerDay } from '../../base/day.ts'
import { parseJsonObject } from '../../base/json-object.ts'
import { appendOutcomes } from '../../feedback/feedback-files.ts'
import { type Outcome, outcomesMax, readOutcome } from '../../feedback/outcome.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { countEvent, countOutcome } from '../../observe/request-counters.ts'
import { describeError } from '../../base/log.ts'
import { replyAccepted, replyError } from '../reply/reply.ts'
import { resumeExchange } from './charge-quota.ts'

export function answerFeedback(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const outcomes = readOutcomes(body, Date.now())
  if ('message' in outcomes) replyError(exchange, invalidInput, outcomes)
  else void keep(exchange, key, outcomes)
}

/** Checked like any other, and not stored. */
export function answerTestFeedback(exchange: Exchange, _: Authenticated, body: Uint8Array): void {
  const outcomes = readOutcomes(body, Date.now())
  if ('message' in outcomes) replyError(exchange, invalidInput, outcomes)
  else replyAccepted(exchange, acceptedJson(outcomes))
}

async function keep(
  exchange: Exchange,
  { keyId }: Authenticated,
  outcomes: readonly Outcome[],
): Promise<void> {
  const { service } = exchange
  try {
    await appendOutcomes(service.stateFolder, outcomes, { keyId, receivedMs: Date.now() })
  } catch (error) {
    const code = error instanceof IpriskError ? error.code : undefined
    if (code === 'feedback_share') {
      countEvent(service.counters, 'feedbackOverShare')
      resumeExchange(exchange, () => replyError(exchange, 'api_quota_exceeded', overShare()))
      return
    }
    countEvent(service.counters, 'feedbackNotKept')
    service.log.error(describeError(error), 'Feedback could not be stored.')
    resumeExchange(exchange, () => replyError(exchange, 'upstream_unavailable'))
    return
  }
  for (const { outcome } of outcomes) countOutcome(service.counters, outcome)
  resumeExchange(exchange, () => replyAccepted(exchange, acceptedJson(outcomes)))
}

/** Days of feedback begin at midnight, UTC. */
function overShare(): ErrorDetail {
  const retrySeconds = Math.ceil((msPerDay - (Date.now() % msPerDay)) / 1000)
  const message =
    "This key has used its share of the day's storage for feedback, 64 MiB. It renews at midnight UTC."
  return { message, retrySeconds }
}

function acceptedJson({ length }: readonly Outcome[]): string {
  return JSON.stringify({ accepted: length })
}

function readOutcomes(body: Uint8Array, nowMs: number): readonly Outcome[] | InputFault {
  const object = parseJsonObject(body)
  if (typeof object === 'string') return feedbackFaults[object]
  const { outcomes: rows } = object
  if (!Array.isArray(rows)) return feedbackFaults.no_array
  if (rows.length === 0 || rows.length > outcomesMax) return feedbackFaults.count
  const outcomes: Outcome[] = []
  for (const [index, row] of (rows as readonly unknown[]).entries()) {
    const outcome = readOutcome(row, nowMs)
    if ('message' in outcome) {
      const { message, member } = outcome
      return { message, param: `outcomes[${index}]${member === '' ? '' : `.${member}`}` }
    }
    outcomes.push(outcome)
  }
  return outcomes
}
