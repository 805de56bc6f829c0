// What the verdict of an address would be without some feeds, some days later, or both: its own
// record judged again, as the insights do it.

import type { Day } from '../../base/day.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { Verdict } from '../../model/verdict.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { judge } from '../../score/judge.ts'
import { type InsightsTable, decidingRecordOf, judgeInputOf } from './insights.ts'

/** `undefined` where the text is no address. Own lists are no evidence: they are left out. */
export function verdictIf(
  table: Omit<InsightsTable, 'builtMs'>,
  text: string,
  { without, days }: { readonly without: readonly string[]; readonly days: number },
): Verdict | undefined {
  const words = newAddressWords()
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  const record = decidingRecordOf(table.reader, family, words)
  if (record === undefined) return bogonVerdict
  const input = judgeInputOf(table, record)
  const evidence = input.evidence.filter(({ voice }) => !without.includes(voice.id))
  return judge({ ...input, evidence, asOf: (input.asOf + days) as Day })
}
