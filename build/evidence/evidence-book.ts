// The book of evidence: every distinct "feed × kind × range × days" once, by number, in the form
// the model reads and in the form the table keeps. Ranges are part of the number; what the model
// sees is not, so that verdicts are computed once for all ranges of which the same is said.

import { type Range, bigintToWords } from '../../src/ip/range.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import { evidenceWords } from '../../src/schema/table-layout.ts'
import { packEvidence } from '../../src/table/file/evidence-record.ts'
import { newInterner } from '../layer/intern.ts'
import { newRangeInterner } from '../layer/range-interner.ts'

/** A feed's word on a range; `range` is undefined for evidence of an AS. */
export interface Statement {
  /** Index into the table's sources. */
  readonly source: number
  readonly evidence: Evidence
  readonly range: Range | undefined
}

export interface EvidenceBook {
  /** Number of a statement, from 1. */
  id(statement: Statement): number
  readonly count: number
  /** The statement with number `id`. */
  at(id: number): Statement
  /** Equal for statements that the model cannot tell apart. */
  meaning(id: number): number
  /** The section `evidence`: number n lies at n - 1. */
  words(stringId: (text: string) => number): Uint32Array
}

export function newEvidenceBook(): EvidenceBook {
  const meanings = newInterner<string>((key) => key, 1)
  // Most statements share few evidence objects: their meaning is looked up by identity first.
  const known = new Map<Evidence, number>()
  const meaningOf = (statement: Statement): number => {
    const cached = known.get(statement.evidence)
    if (cached !== undefined) return cached
    const id = meanings.id(meaningKey(statement))
    known.set(statement.evidence, id)
    return id
  }
  const ids = newRangeInterner()
  const statements: Statement[] = []
  return {
    get count() {
      return statements.length
    },
    id(statement) {
      const id = ids.id(meaningOf(statement), statement.range)
      if (id === statements.length) statements.push(statement)
      return id + 1
    },
    at: (id) => statements[id - 1] as Statement,
    meaning: (id) => meaningOf(statements[id - 1] as Statement),
    words(stringId) {
      const out = new Uint32Array(statements.length * evidenceWords)
      const first = new Uint32Array(4)
      const last = new Uint32Array(4)
      statements.forEach(({ source, evidence, range }, index) => {
        first.fill(0)
        last.fill(0)
        if (range !== undefined) {
          bigintToWords(range.family, range.first, first)
          bigintToWords(range.family, range.last, last)
        }
        const providerId = stringId(evidence.provider)
        const at = index * evidenceWords
        packEvidence({ evidence, source, first, last }, { out, at, providerId })
      })
      return out
    },
  }
}

function meaningKey({ source, evidence }: Statement): string {
  const { kind, match, provider, category, lists, firstSeen, lastSeen } = evidence
  const { daysListed, daysObserved } = evidence
  return JSON.stringify([
    source,
    kind,
    match,
    provider,
    category,
    lists,
    firstSeen,
    lastSeen,
    daysListed,
    daysObserved,
  ])
}
