// The trail of decisions (`--decision-log`): a line of JSON for each answer to an address, with
// what was decided and by which policies, for a SIEM. The lines of all workers go to one file
// (base/system/line-file.ts). Off by default; then a request reads one member that is undefined.
//
// An answer is parsed again for its line, some microseconds each: the answer's own bytes are the
// only place where table, lists and policy have already come together.
//
// Invariant: each answer of the chosen share is a line, or is counted as lost.

import { openLineFile } from '../base/system/line-file.ts'
import type { CheckAnswer } from '../api/check-answer.ts'
import type { LoggedAddresses } from '../base/log.ts'
import { type RequestCounters, countEvent } from './request-counters.ts'

/** What a line says beside the answer. */
export interface DecisionContext {
  readonly requestId: string
  readonly keyId: string
  /** Of the policies that decided; `undefined` without policies. */
  readonly revision: string | undefined
}

export interface DecisionLog {
  /** `answers`: one answer as JSON, or several with commas between them, as a batch has them. */
  readonly record: (answers: Uint8Array, context: DecisionContext) => void
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
    readonly random?: () => number
  },
): DecisionLog {
  const { counters, addresses, onTrouble, onRecovery, onLost, random = Math.random } = parts
  const file = openLineFile({ path, waitingBytesMax, onTrouble, onRecovery })
  const share = sharePercent / 100
  const isChosen = share >= 1 ? () => true : () => random() < share
  const ownMembers = share >= 1 ? {} : { share }
  return {
    record: (answers, { requestId, keyId, revision }) => {
      const time = new Date().toISOString()
      for (const answer of parseAnswers(answers)) {
        // What is no address has no decision.
        if ('error' in answer || !isChosen()) continue
        const line = JSON.stringify({
          time,
          request_id: requestId,
          key_id: keyId,
          ...addressMember(answer, addresses),
          ...factsOf(answer),
          revision,
          ...ownMembers,
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

/** Answers as JSON with commas between them. */
export function parseAnswers(bytes: Uint8Array): readonly CheckAnswer[] {
  // Not a TextDecoder: a batch's bytes may be in shared memory.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  return JSON.parse(`[${text}]`) as readonly CheckAnswer[]
}

function addressMember(
  { ip, address = ip }: CheckAnswer,
  addresses: LoggedAddresses,
): { readonly address?: string } {
  if (addresses === false) return {}
  return { address: addresses === true ? address : addresses(address) }
}

/** Absent members are left out by JSON.stringify. */
function factsOf({ classification, risk_score, lists, decision, observed, table }: CheckAnswer) {
  return { classification, risk_score, lists, ...decision, observed, table }
}
