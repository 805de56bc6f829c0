// Keeps an unresponsive server from costing every login its whole timeout: after several
// consecutive failures the circuit opens and checks fail at once. When its time is over one check
// goes out as a probe, the others still fail at once; the probe's success closes the circuit, its
// failure opens it for twice as long.
//   closed ──failures──▶ open ──time──▶ half-open ──probe succeeds──▶ closed
//                         ▲                 │
//                         └──probe fails────┘

/** However often probes fail, the next one comes after this: it costs one login its timeout. */
const openMsMax = 5000

/** One request that may go out; no two are the same. */
export type Admission = symbol

export function createCircuitBreaker(options: {
  /** This many in a row open it. */
  readonly failures: number
  readonly openMs: number
  readonly now: () => number
  readonly onOpen: () => void
}) {
  let failures = 0
  let openMs = options.openMs
  /** 0 while closed. */
  let openUntil = 0
  let probe: Admission | undefined

  function open(): void {
    openUntil = options.now() + openMs
    openMs = Math.min(openMs * 2, openMsMax)
    probe = undefined
    options.onOpen()
  }

  return {
    /** `undefined`: not now. The holder of an admission reports how its request ended. */
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
      // Requests that began before it opened say nothing new.
      if (openUntil !== 0 && admission !== probe) return
      failures += 1
      if (openUntil !== 0 || failures >= options.failures) open()
    },
    /** It ended without saying anything about the server: its caller no longer waits. */
    withdraw(admission: Admission) {
      if (admission === probe) probe = undefined
    },
  }
}
