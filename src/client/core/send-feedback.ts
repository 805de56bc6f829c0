// Feedback on how addresses turned out (contract 5.6).

import { checkPath } from '../generated/wire-types.ts'
import type { Client, FeedbackResult } from './check-result.ts'
import { type ClientParts, noAnswer, unexpected } from './client-parts.ts'
import type { Observe } from './open-telemetry.ts'
import type { ClientFailure } from './outcome-report.ts'

const feedbackPath = checkPath.replace(/check$/, 'feedback')

export function createFeedback(parts: ClientParts, observe: Observe): Client['feedback'] {
  const { ask, unchecked, report, settings } = parts
  const failed = (failure: ClientFailure): FeedbackResult => {
    const { ok, reason } = unchecked(failure, { isFeedback: true })
    return { ok, reason }
  }

  async function send(
    outcomes: Parameters<Client['feedback']>[0],
    options: Parameters<Client['feedback']>[1],
  ): Promise<FeedbackResult> {
    // The API refuses it; a report of nothing is no mistake.
    if (outcomes.length === 0) return { ok: true, accepted: 0 }
    const meaning = await ask({
      path: feedbackPath,
      body: { outcomes },
      timeoutMs: settings.batchTimeoutMs,
      signal: options?.signal,
      isHeavy: true,
    })
    if (meaning.kind === 'failure') return failed(meaning.failure)
    const { accepted } = meaning.body
    if (typeof accepted !== 'number') return failed(noAnswer)
    report.answered(true)
    return { ok: true, accepted }
  }

  return async (outcomes, options) => {
    const end = observe('feedback')
    const result = await send(outcomes, options).catch((cause: unknown) =>
      failed(unexpected(cause)),
    )
    end(result.ok ? 'ok' : result.reason)
    return result
  }
}
