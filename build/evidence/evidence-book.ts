// The book of evidence: numbers each distinct "feed × kind × range × days", for the model and for
// the table. The model does not see ranges, so one verdict serves all ranges with the same facts.

import type { Day } from '../../src/base/day.ts'
import type { Range } from '../../src/ip/range.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import { evidenceWords } from '../../src/schema/table-layout.ts'
import { packEvidence } from '../../src/table/file/evidence-record.ts'
import { newInterner, newRangeInterner } from '../layer/intern.ts'

/** A feed's statement about a range, or about an AS if `range` is undefined. */
interface Statement {
  readonly source: number
  readonly evidence: Evidence
  readonly range: Range | undefined
}

export type EvidenceBook = ReturnType<typeof newEvidenceBook>

export function newEvidenceBook() {
  const meanings = newInterner<string>((key) => key, 1)
  // Few evidence objects are shared by most statements: look meanings up by identity first.
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
  const statementMeanings: number[] = []
  return {
    get count(): number {
      return statements.length
    },
    /** Statement numbers start at 1. */
    id(statement: Statement): number {
      const meaning = meaningOf(statement)
      const id = ids.id(meaning, statement.range)
      if (id === statements.length) {
        statements.push(statement)
        statementMeanings.push(meaning)
      }
      return id + 1
    },
    at: (id: number) => statements[id - 1] as Statement,
    meaning: (id: number): number => statementMeanings[id - 1]!,
    /** Number n lies at n - 1 of `evidence`. */
    sections(stringId: (text: string) => number) {
      const evidence = new Uint32Array(statements.length * evidenceWords)
      const ranges: number[] = []
      statements.forEach((statement, index) => {
        const providerId = stringId(statement.evidence.provider)
        packEvidence(statement, { out: evidence, ranges, at: index * evidenceWords, providerId })
      })
      return { evidence, evidence_ranges: Uint32Array.from(ranges) }
    },
  }
}

/** All makers of evidence add members in the same order. */
const meaningKey = ({ source, evidence: { voice: _voice, ...rest } }: Statement): string =>
  JSON.stringify([source, ...Object.values(rest)])

/** Evidence that is computed or kept by hand has one day. */
export function seenOnDay(
  of: Pick<Evidence, 'voice' | 'kind' | 'match' | 'provider'>,
  day: Day,
): Evidence {
  const { voice, kind, match, provider } = of
  const days = { firstSeen: day, lastSeen: day, daysListed: 1, daysObserved: 1 }
  return { voice, kind, match, provider, category: undefined, lists: 1, ...days }
}
