// Counts the abusive outcomes of a visitor's address (`visitorOf`) within a day (contract 6.11:
// outcomes), for one machine, in memory. A script does the same for many (lua-scripts.ts).
//
// - Outcomes of one request are one; without a request id, those of one minute are.
// - An abusive outcome counts at its `at`. For a day after a legitimate one was received, none
// counts.
// - Counting an outcome again changes nothing.
// - The newest `abusiveMin` requests of an address are kept: more make no difference. Above
//   `addressesMax` the address reported longest ago is forgotten.

import { abusiveMin, outcomeWindowMs } from '../lists/list-limits.ts'
import type { KeptOutcome } from './feedback-files.ts'

/** Per outcome: some 190 MB if all have five requests with ids of 36 characters. */
const windowAddressesMax = 200_000

/** `request` is `''` for a legitimate outcome. */
export interface CountedOutcome extends Pick<KeptOutcome, 'atMs' | 'receivedMs'> {
  readonly request: string
}

/** At most `abusiveMin`, the oldest at `sinceMs`. */
type Standing = Readonly<typeof nothing>

export interface OutcomeWindows {
  /** Counts an outcome. What stood when it came in, with it. */
  readonly count: (visitor: string, outcome: CountedOutcome) => Standing | Promise<Standing>
  /** How many addresses were given up for lack of room since the last call. */
  readonly takeForgotten: () => number
}

const nothing = { abusive: 0, sinceMs: 0 }

export function countedOutcome(of: KeptOutcome): CountedOutcome {
  const { outcome, atMs, receivedMs, requestId } = of
  const own = requestId === undefined ? String(Math.floor(atMs / 60_000)) : `r${requestId}`
  return { atMs, receivedMs, request: outcome === 'legitimate' ? '' : own }
}

export function newOutcomeWindows(addressesMax = windowAddressesMax) {
  const abusive = new Map<string, readonly (readonly [request: string, atMs: number])[]>()
  const legitimate = new Map<string, number>()
  let forgotten = 0
  /** The oldest first. A tenth goes at once: finding the first of a map passes what was deleted. */
  const keep = <T>(kept: Map<string, T>, visitor: string, value: T, isOver: (of: T) => boolean) => {
    kept.delete(visitor)
    kept.set(visitor, value)
    if (kept.size <= addressesMax) return
    for (const [oldest, of] of kept) {
      if (kept.size <= addressesMax * 0.9) return
      kept.delete(oldest)
      forgotten += Number(!isOver(of))
    }
  }
  return {
    count: (visitor, { request, atMs, receivedMs }) => {
      const fromMs = receivedMs - outcomeWindowMs
      if (request === '') {
        const latest = Math.max(receivedMs, legitimate.get(visitor) ?? 0)
        keep(legitimate, visitor, latest, (ms) => ms <= fromMs)
        return nothing
      }
      const known = (abusive.get(visitor) ?? []).filter(([, ms]) => ms > fromMs)
      const isNew = atMs > fromMs && !known.some(([of]) => of === request)
      const all = isNew ? [...known, [request, atMs] as const] : known
      const newest = all.sort(([, a], [, b]) => a - b).slice(-abusiveMin)
      keep(abusive, visitor, newest, (of) => !of.some(([, ms]) => ms > fromMs))
      if ((legitimate.get(visitor) ?? 0) > fromMs) return nothing
      return { abusive: newest.length, sinceMs: newest[0]?.[1] ?? 0 }
    },
    takeForgotten: () => {
      const taken = forgotten
      forgotten = 0
      return taken
    },
  } satisfies OutcomeWindows
}
