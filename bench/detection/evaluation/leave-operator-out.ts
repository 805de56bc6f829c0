// Leave one VPN operator out: everything that is its own word, or a copy of it, says nothing; what
// is left of its servers? This is what a table says of an operator that has no feed. Left out are
//
//   its lists          every feed of kind vpn that names it as provider
//   the aggregates     single addresses of lists that gather operators' lists (of `vpn-x4b`, whose
//                      whole networks stay: they are no operator's word; and `vpn-az0`)
//   beside its servers the neighbourhoods of its own servers, and what is inferred from them alone
//   its rows           of the hand-kept table of operators' space; without and with them, for the
//                      table knows operators that have no feed
//
// Single operators are few, so the mean over operators stands beside the pooled share.

import type { Evidence } from '../../../src/model/evidence.ts'
import { newCellJudge } from '../world/cell-verdicts.ts'
import type { World } from '../world/cells.ts'
import { type DetectedShares, type Part, detectedShares, partsOf } from './leave-one-out.ts'
import { wilsonShare } from '../../../src/feedback/wilson-share.ts'

/** Lists that hold copies of operators' lists, as single addresses. */
const aggregates: ReadonlySet<string> = new Set(['vpn-x4b', 'vpn-az0'])
const operatorsTable = 'table-vpn-operators'

export interface OperatorLeftOut {
  readonly operator: string
  readonly feeds: readonly string[]
  readonly entries: number
  readonly withAll: DetectedShares
  /** Nothing of it is known. */
  readonly unknown: DetectedShares
  /** Its rows of the hand-kept table are known. */
  readonly withTable: DetectedShares
}

export interface OperatorsLeftOut {
  readonly operators: readonly OperatorLeftOut[]
  /** All servers as one list. */
  readonly pooled: Omit<OperatorLeftOut, 'operator' | 'feeds'>
}

export function leaveOperatorsOut(world: World): OperatorsLeftOut {
  const all = newCellJudge(world)
  const operators = operatorsOf(world).map(({ operator, feeds }): OperatorLeftOut => {
    const parts = feeds.flatMap(({ id, newest }) => partsOf(world, id, newest))
    const ids = new Set(feeds.map(({ id }) => id))
    const found = (isLeftOut: (evidence: Evidence) => boolean): DetectedShares =>
      detectedShares(parts, 'vpn', newCellJudge(world, { isLeftOut }))
    return {
      operator,
      feeds: [...ids],
      entries: countOf(parts),
      withAll: detectedShares(parts, 'vpn', all),
      unknown: found(isOperators({ operator, ids, rows: true })),
      withTable: found(isOperators({ operator, ids, rows: false })),
    }
  })
  return { operators, pooled: poolOf(operators) }
}

/** Whether a statement is the operator's own word, or a copy of it. */
export function isOperators(of: {
  readonly operator: string
  readonly ids: ReadonlySet<string>
  /** Its rows of the hand-kept table, too. */
  readonly rows: boolean
}): (evidence: Evidence) => boolean {
  return ({ kind, match, provider, voice }) => {
    if (kind !== 'vpn') return false
    if (of.ids.has(voice.id) || aggregates.has(voice.id)) return true
    if (provider !== of.operator) return false
    return match === 'near' || (of.rows && voice.id === operatorsTable)
  }
}

interface Operator {
  readonly operator: string
  readonly feeds: { readonly id: string; newest: number }[]
}

/** Operators with lists of their own, by name. */
export function operatorsOf(world: World): readonly Operator[] {
  const found = new Map<string, Operator>()
  for (let id = 1; id <= world.book.count; id++) {
    const { evidence, range } = world.book.at(id)
    const { kind, match, provider, voice, lastSeen } = evidence
    if (kind !== 'vpn' || match === 'near' || voice.assurance !== 'direct') continue
    if (range === undefined || provider === '') continue
    const own = found.get(provider) ?? { operator: provider, feeds: [] }
    found.set(provider, own)
    const feed = own.feeds.find((one) => one.id === voice.id)
    if (feed === undefined) own.feeds.push({ id: voice.id, newest: lastSeen })
    else feed.newest = Math.max(feed.newest, lastSeen)
  }
  return [...found.values()].sort((a, b) => (a.operator < b.operator ? -1 : 1))
}

function countOf(parts: readonly Part[]): number {
  return Math.round(parts.reduce((sum, { part }) => sum + part, 0))
}

function poolOf(operators: readonly OperatorLeftOut[]): OperatorsLeftOut['pooled'] {
  const entries = operators.reduce((sum, one) => sum + one.entries, 0)
  const pool = (of: 'withAll' | 'unknown' | 'withTable'): DetectedShares => {
    const share = (what: keyof DetectedShares) =>
      wilsonShare(
        operators.reduce((sum, one) => sum + one.entries * one[of][what].share, 0),
        entries,
      )
    return {
      signal: share('signal'),
      fromBlock: share('fromBlock'),
      fromAsk: share('fromAsk'),
      flagged: share('flagged'),
    }
  }
  return {
    entries,
    withAll: pool('withAll'),
    unknown: pool('unknown'),
    withTable: pool('withTable'),
  }
}
