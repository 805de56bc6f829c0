// The published set of a condition, tried before it is saved: its prefixes and addresses, and the
// networks that have most of them.

import { addTo } from '../../base/counts.ts'
import { networkRows } from '../../compare/table-changes.ts'
import { walkRuns } from '../../export/value-runs.ts'
import { noPolicies } from '../../model/policy-form.ts'
import { listPrefixesMax } from '../../model/published-sets.ts'
import { findingText } from '../../policy/policy-file.ts'
import { recordWords } from '../../schema/table-layout.ts'
import { compileSetCondition, conditionSet } from '../../sets/condition-set.ts'
import { within } from '../../sets/list-database.ts'
import { ipv4End, setRecordWords } from '../../sets/set-records.ts'
import type { SetTrial } from '../../api/admin-answers.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

/** Throws `invalid_input` with the place of a mistake, and `set_too_large`. */
export function trySet(
  { table, policies = noPolicies }: Pick<AnsweringParts, 'table' | 'policies'>,
  condition: string,
): SetTrial {
  const compiled = compileSetCondition(condition)
  if (compiled.kind === 'fault') throw invalid(findingText('condition', compiled))
  const { reader } = table
  const { views } = reader
  const how = { name: 'trial', condition, policies, prefixesMax: listPrefixesMax }
  const { records } = conditionSet(reader, how)
  const counts = { 4: new Map<number, number>(), 6: new Map<number, number>() }
  walkRuns(views, (is) => (is < 0 ? is : views.records[is * recordWords]!), {
    run: within(records, (first, last, network, family) => {
      const size = family === 4 ? last[3]! - first[3]! : line(last) - line(first)
      addTo(counts[family], network, size + 1)
    }),
  })
  const ipv4 = ipv4End(records)
  const of = (counted: Map<number, number>, words: number): SetTrial['ipv4'] => ({
    prefixes: words / setRecordWords,
    addresses: [...counted.values()].reduce((sum, one) => sum + one, 0),
    networks: networkRows(table, counted),
  })
  return { ipv4: of(counts[4], ipv4), ipv6: of(counts[6], records.length - ipv4) }
}

/** The number of the /64. */
const line = ([high, low]: Uint32Array): number => high! * 2 ** 32 + low!
