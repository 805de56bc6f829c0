// What outcomes change in the own lists that they fill (contract 6.11: outcomes in own lists).
//
// Invariants: both lists together have at most `entriesMax` entries; at most `freshMax` of them were
// entered by one key within the last hour; no cap takes an entry out.

import { addTo } from '../base/counts.ts'
import { secondsOf } from './change-lists.ts'
import type { ListEntry } from './list-entry.ts'
import type { ReportedList } from './list-limits.ts'
import { formatExpiry } from './list-text.ts'

const entriesMax = 100_000
const freshMax = 1000
const [hourSeconds, daySeconds] = [3600, 86_400]

export type ReportedEntry = ListEntry & { readonly list: ReportedList }

export interface Reported {
  readonly list: ReportedList
  readonly keyId: string
  readonly abusive: number
  readonly sinceMs: number
}

/** Addresses: `over_key` and `full` were not entered; the counts of `forgotten` had no room. */
export const noOutcomeCounts = { entered: 0, left: 0, over_key: 0, full: 0, forgotten: 0 }
export type OutcomeCounts = typeof noOutcomeCounts

const outcomesSince = ' abusive outcomes since '
const keyIdOf = ({ note }: ListEntry): string => note.slice(note.lastIndexOf(' ') + 1)

/** Keyed by the key of its entry, what an address became: `undefined` is legitimate. */
export function reportedChanges(
  known: ReadonlyMap<string, ReportedEntry>,
  outcomes: ReadonlyMap<string, Reported | undefined>,
  now: number,
) {
  const added = secondsOf(now)
  const expires = added + 7 * daySeconds
  const fresh = new Map<string, number>()
  for (const entry of known.values()) {
    if (entry.added > added - hourSeconds) addTo(fresh, keyIdOf(entry))
  }
  const put: ReportedEntry[] = []
  const remove: ReportedEntry[] = []
  const counts = { ...noOutcomeCounts }
  for (const [key, reported] of outcomes) {
    const old = known.get(key)
    if (reported === undefined) {
      counts.left += Number(old !== undefined)
      if (old !== undefined) remove.push(old)
      continue
    }
    const { list, keyId, abusive, sinceMs } = reported
    if (old === undefined) {
      const isFull = known.size - counts.left + counts.entered >= entriesMax
      const isOverKey = (fresh.get(keyId) ?? 0) >= freshMax
      const result = isOverKey ? 'over_key' : isFull ? 'full' : 'entered'
      counts[result] += 1
      if (result !== 'entered') continue
      addTo(fresh, keyId)
      // An address whose abuse continues is written once a day; a person's entry stays as it is.
    } else if (old.expires === 0 || !old.note.includes(outcomesSince)) continue
    else if (old.list !== list) remove.push(old)
    else if (old.expires > expires - daySeconds) continue
    const since = formatExpiry(secondsOf(sinceMs))
    const note = `${abusive}${outcomesSince}${since}, the last by key ${keyId}`
    put.push({ added, ...old, list, key, expires, note })
  }
  return { put, remove, counts }
}
