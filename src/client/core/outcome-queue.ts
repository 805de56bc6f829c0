// Outcomes of logins (contract 5.6: outcomes) on their way to the server: gathered for a second and
// sent in batches, so that no login waits for them.
//
// Invariants: at most `waitingMax` wait; each is sent once and, after a failure that may pass, once
// more; each is counted as sent or as lost in the end.

import { addressGroups } from '../address/address-text.ts'
import type { Client, Outcome } from './check-result.ts'
import type { ClientFailure, OutcomeReport } from './outcome-report.ts'

/** Per request, by the API. */
const batchMax = 1000
const waitingMax = 10_000
const gatherMs = 1000
const retryMs = 5000
/** A proxy in between may have written another id, for which the API would refuse the whole batch.
 * */
const requestIdPattern = /^[\w.-]{1,64}$/

const failures = {
  address: { reason: 'invalid_address', message: 'The value to report is not an IP address.' },
  outcome: { reason: 'misconfigured', message: 'The outcome must be "abusive" or "legitimate".' },
  full: {
    reason: 'unavailable',
    message: `More than ${waitingMax} outcomes are waiting to be sent.`,
  },
} as const satisfies Readonly<Record<string, ClientFailure>>

interface Waiting {
  readonly outcome: Outcome
  readonly settle: (isAccepted: boolean) => void
}

export function createOutcomeQueue({
  send,
  report,
  gathers,
}: {
  readonly send: (outcomes: readonly Outcome[]) => ReturnType<Client['feedback']>
  readonly report: OutcomeReport
  /** False where timers end with the request that set them: each outcome is sent at once. */
  readonly gathers: boolean
}): Pick<Client, 'report' | 'close'> {
  const waiting: Waiting[] = []
  let sending: Promise<void> | undefined
  let isClosing = false
  let endPause = (): void => undefined

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function deliver(batch: readonly Waiting[]): Promise<void> {
    const outcomes = batch.map(({ outcome }) => outcome)
    let result = await send(outcomes)
    if (!result.ok && result.reason !== 'misconfigured' && !isClosing) {
      await pause(retryMs)
      result = await send(outcomes)
    }
    report.count(result.ok ? 'outcomes_sent' : 'outcomes_lost', batch.length)
    for (const { settle } of batch) settle(result.ok)
  }

  async function deliverAll(): Promise<void> {
    if (!isClosing) await pause(gatherMs)
    while (waiting.length > 0) await deliver(waiting.splice(0, batchMax))
    sending = undefined
  }

  return {
    report: async (ip, word, requestId) => {
      const mistake =
        addressGroups(ip) === undefined
          ? failures.address
          : !['abusive', 'legitimate'].includes(word)
            ? failures.outcome
            : waiting.length >= waitingMax
              ? failures.full
              : undefined
      if (mistake !== undefined) {
        report.fail(mistake, { isFeedback: true })
        report.count('outcomes_lost')
        return false
      }
      const id = requestIdPattern.test(requestId ?? '') ? { request_id: requestId! } : {}
      return new Promise((settle) => {
        const one = { outcome: { ip, outcome: word, ...id }, settle }
        if (!gathers) void deliver([one])
        else {
          waiting.push(one)
          sending ??= deliverAll()
        }
      })
    },
    close: async () => {
      isClosing = true
      endPause()
      await sending
      isClosing = false
    },
  }
}
