// Logs failures to the console if the application has no function for them: at once, then once a
// minute, and when they end. There is no timer, so an idle application logs the end of an outage
// with its next answer.
//
// Invariants: at most two lines per minute and kind; while requests continue, each failure is
// counted in some line.

const everyMs = 60_000

/**
 * `over`: milliseconds without a failure after which an answer ends the episode. While visitors use
 * up a rate, answers and refusals alternate. A mistake affects only some requests, so no answer
 * ends it.
 */
const kinds = {
  misconfigured: { says: 'is misconfigured', over: Infinity },
  outage: { says: 'is unavailable', over: 0 },
  limited: { says: "is refusing requests over the key's rate or quota", over: 10_000 },
  feedback: { says: 'does not accept feedback', over: 0 },
} as const
export type FailureKind = keyof typeof kinds

interface Episode {
  readonly since: number
  last: number
  count: number
  isTold: boolean
}

export function createFailureLog(now: () => number) {
  const episodes = new Map<FailureKind, Episode>()
  const toldAt = new Map<FailureKind, number>()
  const isQuiet = (kind: FailureKind): boolean => now() - (toldAt.get(kind) ?? -Infinity) < everyMs

  return {
    fail(kind: FailureKind, why: string): void {
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
    /** An answer to a check or, with `isFeedback`, to feedback. */
    answered(isFeedback: boolean): void {
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
  const [noun, done] = kind === 'feedback' ? ['report', 'accepted'] : ['request', 'checked']
  const seconds = Math.round((last - since) / 1000)
  const time = seconds === 0 ? '' : ` in ${seconds} s`
  return `${count} ${noun}${count === 1 ? ' was' : 's were'} not ${done}${time}`
}

export function say(text: string): void {
  tell((line) => {
    // oxlint-disable-next-line no-console -- the application's own, which gave no function for it
    console.error(line)
  }, `iprisk ${text}`)
}

/**
 * Calls a function of the application. Its errors, immediate or later, must not become the login's
 * problem.
 */
export function tell<About>(
  told: ((about: About) => unknown) | undefined,
  about: NoInfer<About>,
): void {
  try {
    Promise.resolve(told?.(about)).catch(() => undefined)
  } catch {
    // It is reported elsewhere as well: failures are counted, and each request has its result.
  }
}

/** A monotonic clock; the wall clock may jump back an hour. */
export function monotonicMs(): number {
  return performance.now()
}
