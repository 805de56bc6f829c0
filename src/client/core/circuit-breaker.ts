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

export interface CircuitBreaker {
  /** Whether a request may go out now. Whoever gets `true` reports how it ended. */
  readonly admit: () => boolean
  readonly succeed: () => void
  readonly fail: () => void
  /** It ended and says nothing of the server: its caller no longer waits. */
  readonly withdraw: () => void
}

export function createCircuitBreaker(options: {
  /** So many in a row open it. */
  readonly failures: number
  readonly openMs: number
  readonly now: () => number
  readonly onOpen: () => void
}): CircuitBreaker {
  let failures = 0
  let openMs = options.openMs
  /** 0 where it is closed. */
  let openUntil = 0
  let probing = false

  function open(): void {
    openUntil = options.now() + openMs
    openMs = Math.min(openMs * 2, openMsMax)
    probing = false
    options.onOpen()
  }

  return {
    admit() {
      if (openUntil === 0) return true
      if (probing || options.now() < openUntil) return false
      probing = true
      return true
    },
    succeed() {
      failures = 0
      openUntil = 0
      openMs = options.openMs
      probing = false
    },
    fail() {
      // What began before it opened says nothing new.
      if (openUntil !== 0 && !probing) return
      failures += 1
      if (probing || failures >= options.failures) open()
    },
    withdraw() {
      probing = false
    },
  }
}
