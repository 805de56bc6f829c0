// The score as a ledger: every posting is a reason with its points, so the sum of the reasons is
// the score by construction. Order (MODEL.md, rule 11): the kinds, blocklists, floors, the lowest
// cap, the end of the scale; then what explains without points.

import type { Reason } from '../../model/verdict.ts'
import type { ReasonCode } from './reason-codes.ts'

/** What the other kinds add together to the strongest one, at most. */
export const otherKindsPointsMax = 10
export const scoreMax = 100

export interface ScoreLimit {
  readonly code: ReasonCode
  readonly score: number
}

export interface ScoreLedger {
  score: number
  readonly reasons: Reason[]
}

export function newScoreLedger(): ScoreLedger {
  return { score: 0, reasons: [] }
}

export function postReason(ledger: ScoreLedger, code: ReasonCode, points: number): void {
  ledger.score += points
  ledger.reasons.push({ code, points })
}

/** Kinds by points, the strongest first; together the others add at most 10. */
export function postKinds(ledger: ScoreLedger, kinds: readonly Reason[]): void {
  let others = 0
  const sorted = kinds.length > 1 ? kinds.toSorted((a, b) => b.points - a.points) : kinds
  for (const [index, { code, points }] of sorted.entries()) {
    postReason(ledger, code as ReasonCode, points)
    if (index > 0) others += points
  }
  if (others > otherKindsPointsMax)
    postReason(ledger, 'others_limited', otherKindsPointsMax - others)
}

/** Raises the score to the floor, where it is below. */
export function postFloor(ledger: ScoreLedger, floor: ScoreLimit): void {
  if (ledger.score < floor.score) postReason(ledger, floor.code, floor.score - ledger.score)
}

/** Lowers the score to the lowest cap, where it is above. The first of equal caps is named. */
export function postCaps(ledger: ScoreLedger, caps: readonly ScoreLimit[]): void {
  let lowest: ScoreLimit | undefined
  for (const cap of caps) {
    if (lowest === undefined || cap.score < lowest.score) lowest = cap
  }
  if (lowest !== undefined && ledger.score > lowest.score) {
    postReason(ledger, lowest.code, lowest.score - ledger.score)
  }
  if (ledger.score > scoreMax) postReason(ledger, 'clamp_100', scoreMax - ledger.score)
}
