// What a record of a table says of its addresses, read word by word: for millions of records.

import type { Classification } from '../../model/kind.ts'
import { recordWords } from '../../schema/table-layout.ts'
import { readClassification, readScore } from '../../table/file/verdict-record.ts'
import type { OpenTable } from '../../table/open-table.ts'

export interface RecordFacts {
  readonly classification: Classification
  readonly score: number
}

export function recordFacts({ reader: { views } }: OpenTable, record: number): RecordFacts {
  const verdict = views.records[record * recordWords + 2]!
  return {
    classification: readClassification(views.verdicts, verdict),
    score: readScore(views.verdicts, verdict),
  }
}
