// Keeps a server that does not answer from costing every login its whole time-out: after some
// failures in a row the circuit opens and checks fail at once. When its time is over one check goes
// out as a probe, the others still fail at once; the probe's success closes the circuit, its
// failure opens it for twice as long.
//
//   closed ──failures──▶ open ──time──▶ half-open ──probe succeeds──▶ closed
//                         ▲                 │
//                         └──probe fails────┘

/** However often probes fail, the next one comes after this: it costs one login its time-out. */
const openMsMax = 5000

/** One request that may go out; no two are the same. */
export type Admission = symbol

export function createCircuitBreaker(options: {
  /** So many in a row open it. */
  readonly failures: number
  readonly openMs: number
  readonly now: () => number
  readonly onOpen: () => void
}) {
  let failures = 0
  let openMs = options.openMs
  /** 0 where it is closed. */
  let openUntil = 0
  let probe: Admission | undefined

  function open(): void {
    openUntil = options.now() + openMs
    openMs = Math.min(openMs * 2, openMsMax)
    probe = undefined
    options.onOpen()
  }

  return {
    /** `undefined`: not now. Whoever gets an admission reports how its request ended. */
    admit(): Admission | undefined {
      const admission = Symbol('admission')
      if (openUntil === 0) return admission
      if (probe !== undefined || options.now() < openUntil) return undefined
      return (probe = admission)
    },
    succeed() {
      failures = 0
      openUntil = 0
      openMs = options.openMs
      probe = undefined
    },
    fail(admission: Admission) {
      // What began before it opened says nothing new.
      if (openUntil !== 0 && admission !== probe) return
      failures += 1
      if (openUntil !== 0 || failures >= options.failures) open()
    },
    /** It ended and says nothing about the server: its caller no longer waits. */
    withdraw(admission: Admission) {
      if (admission === probe) probe = undefined
    },
  }
}
