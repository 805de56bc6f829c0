// The score as a ledger: every posting is a reason with its points, so the sum of the reasons is
// the score by construction. Order (scoring.md, rule 11): the kinds, blocklists, floors, the lowest
// cap, the end of the scale; then what explains without points.

import type { Reason } from '../../model/verdict.ts'
import type { ReasonCode } from './reason-codes.ts'

/** What the other kinds add together to the strongest one, at most. */
export const othersMax = 10
export const scoreMax = 100

export interface Limit {
  readonly code: ReasonCode
  readonly score: number
}

export interface Ledger {
  score: number
  readonly reasons: Reason[]
}

export function openLedger(): Ledger {
  return { score: 0, reasons: [] }
}

export function post(ledger: Ledger, code: ReasonCode, points: number): void {
  ledger.score += points
  ledger.reasons.push({ code, points })
}

/** Kinds by points, the strongest first; together the others add at most 10. */
export function postKinds(ledger: Ledger, kinds: readonly Reason[]): void {
  let others = 0
  const sorted = kinds.length > 1 ? kinds.toSorted((a, b) => b.points - a.points) : kinds
  for (const [index, { code, points }] of sorted.entries()) {
    post(ledger, code as ReasonCode, points)
    if (index > 0) others += points
  }
  if (others > othersMax) post(ledger, 'others_limited', othersMax - others)
}

/** Raises the score to the floor, where it is below. */
export function postFloor(ledger: Ledger, floor: Limit): void {
  if (ledger.score < floor.score) post(ledger, floor.code, floor.score - ledger.score)
}

/** Lowers the score to the lowest cap, where it is above. The first of equal caps is named. */
export function postCaps(ledger: Ledger, caps: readonly Limit[]): void {
  let lowest: Limit | undefined
  for (const cap of caps) {
    if (lowest === undefined || cap.score < lowest.score) lowest = cap
  }
  if (lowest !== undefined && ledger.score > lowest.score) {
    post(ledger, lowest.code, lowest.score - ledger.score)
  }
  if (ledger.score > scoreMax) post(ledger, 'clamp_100', scoreMax - ledger.score)
}
