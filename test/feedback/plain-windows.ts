// The slow obvious twin of src/feedback/outcome-windows.ts: keeps every outcome, and counts anew.
// And random outcomes for whatever counts them.

import type { CountedOutcome, OutcomeWindows } from '../../src/feedback/outcome-windows.ts'
import { newRandom } from '../../bench/harness/random.ts'

const dayMs = 86_400_000

export function plainWindows(): Pick<OutcomeWindows, 'count'> {
  const all = new Map<string, CountedOutcome[]>()
  return {
    count: (visitor, outcome) => {
      const seen = [...(all.get(visitor) ?? []), outcome]
      all.set(visitor, seen)
      const fromMs = outcome.receivedMs - dayMs
      const isLegitimate = (one: CountedOutcome): boolean => one.request === ''
      if (isLegitimate(outcome)) return { abusive: 0, sinceMs: 0 }
      if (seen.some((one) => isLegitimate(one) && one.receivedMs > fromMs))
        return { abusive: 0, sinceMs: 0 }
      const stands = seen.filter((one) => !isLegitimate(one) && one.atMs > fromMs)
      const requests = new Map(stands.map(({ request, atMs }) => [request, atMs]))
      const newest = [...requests.values()].sort((a, b) => b - a).slice(0, 5)
      return { abusive: newest.length, sinceMs: newest.at(-1) ?? 0 }
    },
  }
}

export const startMs = Date.UTC(2026, 7, 22)

/** Of a few addresses, hours apart; a request says the same `at` each time. */
export function randomOutcomes(seed: number, count: number, legitimateShare = 0.02) {
  const { below, fraction } = newRandom(seed)
  const sent: CountedOutcome[] = []
  let receivedMs = startMs
  return Array.from({ length: count }, (_, i) => {
    receivedMs += below(below(3) === 0 ? 4 * 3_600_000 : 60_000)
    const visitor = `192.0.2.${below(4)}`
    const again = sent[sent.length - 1 - below(12)]
    const isLegitimate = fraction() < legitimateShare
    const fresh = { request: `r${visitor}-${i}`, atMs: receivedMs - below(30 * 3_600_000) }
    const old = again?.request.startsWith(`r${visitor}-`) === true && below(2) === 0 ? again : fresh
    const outcome = { ...old, ...(isLegitimate ? { request: '' } : {}), receivedMs }
    sent.push(outcome)
    return { visitor, outcome }
  })
}
