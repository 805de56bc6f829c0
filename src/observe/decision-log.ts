// The trail of decisions (`--decision-log`): a line of JSON for each answer to an address, with
// what was decided and by which policies, for a SIEM. The lines of all workers go to one file
// (base/system/line-file.ts). Off by default; then a request reads one member that is undefined.
//
// Invariant: each answer of the chosen share is a line, or is counted as lost.

import { openLineFile } from '../base/system/line-file.ts'
import type { LoggedAddresses } from '../base/log.ts'
import type { AnswerFacts } from './answer-facts.ts'
import { type RequestCounters, countEvent } from './request-counters.ts'

/** What a line says beside the answer. */
export interface DecisionContext {
  readonly requestId: string
  readonly keyId: string
  /** `undefined` for the API; the gate has no keys. */
  readonly source: 'gate' | 'bouncer' | 'lists' | undefined
  /** Of the policies that decided; `undefined` without policies. */
  readonly revision: string | undefined
}

export interface DecisionLog {
  /** Of all answers; those with lots below it are recorded. */
  readonly share: number
  /** Takes the answers of one request, or some of them. */
  readonly record: (answers: readonly AnswerFacts[], context: DecisionContext) => void
  readonly close: () => Promise<void>
}

export interface DecisionLogSettings {
  /** `-` is standard output. */
  readonly path: string
  /** Of all answers, in percent. */
  readonly sharePercent: number
}

/** Of one worker: half a minute of a slow disk at a thousand checks a second. */
const waitingBytesMax = 16_777_216

export function createDecisionLog(
  { path, sharePercent }: DecisionLogSettings,
  parts: {
    readonly counters: RequestCounters
    readonly addresses: LoggedAddresses
    readonly onTrouble: (error: unknown) => void
    readonly onRecovery: () => void
    /** How many lines were left when it was closed. */
    readonly onLost: (lines: number) => void
  },
): DecisionLog {
  const { counters, addresses, onTrouble, onRecovery, onLost } = parts
  const file = openLineFile({ path, waitingBytesMax, onTrouble, onRecovery })
  const share = sharePercent / 100
  const shownAddress = (address: string): string | undefined => {
    if (addresses === false) return undefined
    return addresses === true ? address : addresses(address)
  }
  return {
    share,
    record: (answers, { requestId, keyId, source, revision }) => {
      const time = new Date().toISOString()
      for (const answer of answers) {
        if (answer.lot >= share) continue
        // Members without a value are left out.
        const line = JSON.stringify({
          time,
          request_id: requestId,
          source,
          key_id: source === 'gate' ? undefined : keyId,
          address: shownAddress(answer.address),
          classification: answer.classification,
          risk_score: answer.score,
          lists: answer.lists,
          ...answer.decision,
          observed: answer.observed,
          table: answer.table,
          revision,
          share: share >= 1 ? undefined : share,
        })
        countEvent(counters, file.append(line) ? 'decisionsLogged' : 'decisionsLost')
      }
    },
    close: async () => {
      const left = await file.close()
      for (let line = 0; line < left; line += 1) countEvent(counters, 'decisionsLost')
      if (left > 0) onLost(left)
    },
  }
}
