// The own lists that outcomes fill (contract 6.11), and what outcomes change in them: which
// addresses enter, stay for longer, or leave. src/supervisor/lists/outcome-lists-main.ts acts.
//
// Invariants: both lists together have at most `entriesMax` entries; at most `freshMax` of them were
// entered by one key within the last hour; no cap takes an entry out.

import { addTo } from '../base/counts.ts'
import { secondsOf } from './change-lists.ts'
import type { ListEntry } from './list-entry.ts'
import { type ReportedList, reportedLists } from './list-limits.ts'
import { formatExpiry } from './list-text.ts'

const entriesMax = 100_000
const freshMax = 1000
const hourSeconds = 3600
const daySeconds = 24 * hourSeconds
const staySeconds = 7 * daySeconds

export interface Reported {
  readonly list: ReportedList
  /** Of the last outcome. */
  readonly keyId: string
  readonly abusive: number
  readonly sinceMs: number
}

/** Of addresses, by what became of them; `forgotten`: their counts had no room. */
export const noOutcomeCounts = {
  entered: 0,
  left: 0,
  allowed: 0,
  over_key: 0,
  full: 0,
  forgotten: 0,
}
export type OutcomeCounts = Readonly<typeof noOutcomeCounts>
export const outcomeCountNames = Object.keys(noOutcomeCounts) as readonly (keyof OutcomeCounts)[]

/** Console and `explain` show it; the caps count by its key. */
const noteOf = ({ abusive, sinceMs, keyId }: Reported): string =>
  `${abusive} abusive outcomes since ${formatExpiry(secondsOf(sinceMs))}, the last by key ${keyId}`

const keyIdOf = (note: string): string => note.slice(note.lastIndexOf(' ') + 1)

/**
 * `outcomes`: by the key of an entry what its address became, `undefined` for legitimate. `lists`
 * are without expired entries.
 */
export function reportedChanges(
  lists: Readonly<Record<ReportedList, readonly ListEntry[]>>,
  outcomes: ReadonlyMap<string, Reported | undefined>,
  now: number,
) {
  const nowSeconds = secondsOf(now)
  const known = new Map<string, { readonly list: ReportedList; readonly entry: ListEntry }>()
  const fresh = new Map<string, number>()
  const changes = reportedLists.map((list) => ({
    list,
    put: [] as ListEntry[],
    remove: [] as string[],
  }))
  const changesOf = (name: ReportedList) => changes.find(({ list }) => list === name)!
  for (const list of reportedLists) {
    for (const entry of lists[list]) {
      known.set(entry.key, { list, entry })
      if (entry.added > nowSeconds - hourSeconds) addTo(fresh, keyIdOf(entry.note))
    }
  }
  const counts = { ...noOutcomeCounts }
  for (const [key, reported] of outcomes) {
    const old = known.get(key)
    if (reported === undefined) {
      if (old === undefined) continue
      known.delete(key)
      changesOf(old.list).remove.push(key)
      counts.left += 1
      continue
    }
    const { list = reported.list, entry: { added = nowSeconds, expires = 1 } = {} } = old ?? {}
    // An address whose abuse goes on is written once a day; a person's entry may stay for ever.
    if (expires === 0 || expires > nowSeconds + staySeconds - daySeconds) continue
    if (old === undefined) {
      const isOverKey = (fresh.get(reported.keyId) ?? 0) >= freshMax
      const result = isOverKey ? 'over_key' : known.size >= entriesMax ? 'full' : 'entered'
      counts[result] += 1
      if (result !== 'entered') continue
      addTo(fresh, reported.keyId)
    }
    const entry = { key, added, expires: nowSeconds + staySeconds, note: noteOf(reported) }
    known.set(key, { list, entry })
    changesOf(list).put.push(entry)
  }
  return { changes, counts }
}
