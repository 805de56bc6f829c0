// The decision log (`--decision-log`): a JSON line per answered address with the decision and the
// policies' revision, for a SIEM. All workers write one file (base/system/line-file.ts). Off by
// default; then a request reads one undefined member. Each chosen answer is a line, or counted as
// lost.

import { openLineFile } from '../base/system/line-file.ts'
import type { LoggedAddresses } from '../base/log.ts'
import type { AnswerFacts } from './answer-facts.ts'
import { type RequestCounters, countEvent } from './request-counters.ts'

/** A line's members beside the answer's. */
export interface DecisionContext {
  readonly requestId: string
  readonly keyId: string
  /** `undefined` for the API; the gate has no keys. */
  readonly source: 'gate' | 'bouncer' | 'lists' | undefined
  /** The revision of the deciding policies; `undefined` without policies. */
  readonly revision: string | undefined
}

export interface DecisionLog {
  /** Answers with lots below it are recorded. */
  readonly share: number
  readonly record: (answers: readonly AnswerFacts[], context: DecisionContext) => void
  readonly close: () => Promise<void>
}

export interface DecisionLogSettings {
  readonly path: string
  readonly sharePercent: number
}

/** Per worker: half a minute of a slow disk at a thousand checks a second. */
const waitingBytesMax = 16_777_216

export function createDecisionLog(
  { path, sharePercent }: DecisionLogSettings,
  parts: {
    readonly counters: RequestCounters
    readonly addresses: LoggedAddresses
    readonly onTrouble: (error: unknown) => void
    readonly onRecovery: () => void
    /** Lines left when it was closed. */
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
