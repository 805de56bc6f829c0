// What a record of a table says of its addresses, read word by word: for millions of records.

import { type Classification, classifications } from '../../model/kind.ts'
import { recordWords, verdictWords } from '../../schema/table-layout.ts'
import type { OpenTable } from '../../table/open-table.ts'

export interface RecordFacts {
  readonly classification: Classification
  readonly score: number
}

/** The verdict's first word holds class and score (src/table/file/verdict-record.ts). */
export function recordFacts({ reader: { views } }: OpenTable, record: number): RecordFacts {
  const verdict = views.records[record * recordWords + 2]!
  const word = views.verdicts[verdict * verdictWords]!
  return { classification: classifications[word & 15] ?? 'clean', score: (word >>> 4) & 127 }
}
