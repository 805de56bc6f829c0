// A site by a virtual clock: logins, their outcomes, and the list that these fill, counted by the
// product's own pure code. A minute is the least time; outcomes act once in `actMinutes`.

import { newOutcomeWindows } from '../../../src/feedback/outcome-windows.ts'
import { abusiveMin } from '../../../src/lists/list-limits.ts'
import {
  type Reported,
  reportedChanges,
  type ReportedEntry,
} from '../../../src/lists/reported-lists.ts'
import type { OutcomeWord } from '../../../src/model/kind.ts'

export const minuteMs = 60_000
export const dayMinutes = 1440
const startMs = Date.UTC(2026, 7, 22)

export interface Report {
  readonly line: string
  readonly outcome: OutcomeWord
  readonly keyId: string
  /** When the login was; `undefined` is now. */
  readonly minute?: number
}

export type Site = ReturnType<typeof newSite>

export function newSite(how: {
  /** Whether outcomes fill lists at all. */
  readonly on: boolean
  readonly actMinutes: number
  /** Lines that the table knows as shared. */
  readonly isShared?: (line: string) => boolean
}) {
  const windows = newOutcomeWindows()
  const known = new Map<string, ReportedEntry>()
  const became = new Map<string, Reported | undefined>()
  const refused = { over_key: 0, full: 0 }
  let now = 0
  let sweptAt = 0
  let requests = 0
  const act = (): void => {
    const nowMs = startMs + now * minuteMs
    if (now - sweptAt >= 60) {
      sweptAt = now
      for (const [line, { expires }] of known) if (expires * 1000 <= nowMs) known.delete(line)
    }
    const { put, remove, counts } = reportedChanges(known, became, nowMs)
    for (const entry of put) known.set(entry.key, entry)
    for (const { key } of remove) known.delete(key)
    refused.over_key += counts.over_key
    refused.full += counts.full
    became.clear()
  }
  return {
    /** Once a minute. */
    advance: (minute: number): void => {
      now = minute
      if (minute % how.actMinutes === 0 && became.size > 0) act()
    },
    report: ({ line, outcome, keyId, minute = now }: Report): void => {
      if (!how.on) return
      requests += 1
      const receivedMs = startMs + now * minuteMs
      const request = outcome === 'legitimate' ? '' : String(requests)
      const atMs = startMs + minute * minuteMs
      const stands = windows.count(line, { request, atMs, receivedMs })
      if (outcome === 'legitimate') became.set(line, undefined)
      else if (stands.abusive >= abusiveMin) {
        const list = how.isShared?.(line) === true ? 'reported-shared' : 'reported'
        became.set(line, { list, keyId, ...stands })
      }
    },
    /** By the rule of `policy init`. */
    isChallenged: (line: string): boolean => {
      const entry = known.get(line)
      return entry?.list === 'reported' && entry.expires * 1000 > startMs + now * minuteMs
    },
    listed: () => known.size,
    refused: () => refused,
  }
}
