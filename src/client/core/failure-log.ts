// Logs to the console the failures for which the application has no function: at once, then once a
// minute, and when they are over. There is no timer: lines come with requests, so an idle
// application learns that an outage is over from its next answer.
//
// Invariants: at most two lines a minute and kind; each failure is in the count of some line, if
// requests go on.

import { tell } from './tell.ts'

const everyMs = 60_000

/**
 * `over`: how long ago the last failure must be when an answer comes for the failures to be over.
 * While visitors spend a rate, answers and refusals take turns. A mistake is seen in some requests
 * only, so that no answer says that it is mended.
 */
const kinds = {
  misconfigured: { says: 'is misconfigured', over: Infinity },
  outage: { says: 'is unavailable', over: 0 },
  limited: { says: "refuses what is beyond the key's rate or quota", over: 10_000 },
  feedback: { says: 'does not take feedback', over: 0 },
} as const
export type FailureKind = keyof typeof kinds

export interface FailureLog {
  readonly fail: (kind: FailureKind, why: string) => void
  /** An answer came: to a check, or where `isFeedback` to feedback. */
  readonly answered: (isFeedback: boolean) => void
}

interface Episode {
  readonly since: number
  last: number
  count: number
  /** Whether a line has told of it. */
  isTold: boolean
}

export function createFailureLog(now: () => number): FailureLog {
  const episodes = new Map<FailureKind, Episode>()
  const toldAt = new Map<FailureKind, number>()
  const isQuiet = (kind: FailureKind): boolean => now() - (toldAt.get(kind) ?? -Infinity) < everyMs

  return {
    fail(kind, why) {
      const at = now()
      let episode = episodes.get(kind)
      if (episode === undefined) {
        episodes.set(kind, (episode = { since: at, last: at, count: 0, isTold: false }))
      }
      episode.last = at
      episode.count += 1
      if (isQuiet(kind)) return
      toldAt.set(kind, at)
      episode.isTold = true
      say(`${kinds[kind].says}; ${lost(kind, episode)}: ${JSON.stringify(why)}`)
    },
    answered(isFeedback) {
      for (const [kind, episode] of episodes) {
        if ((kind === 'feedback') !== isFeedback) continue
        if (now() - episode.last < kinds[kind].over) continue
        if (!episode.isTold) {
          if (isQuiet(kind)) continue
          toldAt.set(kind, now())
        }
        episodes.delete(kind)
        say(`answers again; ${lost(kind, episode)}`)
      }
    },
  }
}

/** `12 requests were not checked in 60 s`. */
function lost(kind: FailureKind, { since, last, count }: Episode): string {
  const [noun, done] = kind === 'feedback' ? ['report', 'taken'] : ['request', 'checked']
  const seconds = Math.round((last - since) / 1000)
  const time = seconds === 0 ? '' : ` in ${seconds} s`
  return `${count} ${noun}${count === 1 ? ' was' : 's were'} not ${done}${time}`
}

/** One line, for an application that set no hook. */
export function say(text: string): void {
  tell((line) => {
    // oxlint-disable-next-line no-console -- the application's own, which gave no function for it
    console.error(line)
  }, `iprisk ${text}`)
}
