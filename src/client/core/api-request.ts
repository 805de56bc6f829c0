// One request to the API: admitted by its circuit, sent, and interpreted. Batches, insights and
// feedback have a circuit of their own.

import type { Transport } from '../transport/transport.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import type { ClientSettings } from './client-options.ts'
import type { ClientFailure, OutcomeReport } from './outcome-report.ts'
import { type Meaning, meaningOf, type ServerState } from './reply-meaning.ts'
import { openRequest } from './timely-request.ts'
import type { TimerWheel } from './timer-wheel.ts'

/**
 * Calls `done` once, unless the returned function was called first: it reports what its caller, who
 * no longer waits, knows about the server.
 */
export type OpenRequest = (
  request: {
    readonly path: string
    readonly body: string
    readonly replyCharsMax: number
    /** For batches, insights and feedback: a full pool may refuse only those. */
    readonly isHeavy: boolean
    readonly timeoutMs: number
  },
  done: (meaning: Meaning) => void,
) => (server: ServerState) => void

const circuitOpen: ClientFailure = {
  reason: 'unavailable',
  message: 'The server failed recently, so this request was not sent.',
}
export function createOpenRequest(parts: {
  readonly settings: ClientSettings
  readonly transport: Transport
  readonly report: OutcomeReport
  readonly wheel: TimerWheel
  readonly now: () => number
}): OpenRequest {
  const { settings, transport, report, wheel, now } = parts
  const { url, key, hedgeMs } = settings
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const newCircuit = () =>
    createCircuitBreaker({
      failures: settings.circuitFailures,
      openMs: settings.circuitMs,
      now,
      onOpen: () => report.count('opened'),
    })
  const circuits = { plain: newCircuit(), heavy: newCircuit() }
  const onRetry = (): void => report.count('retried')
  const onHedge = (): void => report.count('hedged')

  return ({ path, body, replyCharsMax, isHeavy, timeoutMs }, done) => {
    const circuit = isHeavy ? circuits.heavy : circuits.plain
    const admission = circuit.admit()
    if (admission === undefined) {
      done({ kind: 'failure', failure: circuitOpen, server: 'unknown' })
      return () => undefined
    }
    const end = (server: ServerState): void => {
      if (server === 'alive') circuit.succeed()
      else if (server === 'silent') circuit.fail(admission)
      else circuit.withdraw(admission)
    }
    const abandon = openRequest(
      { url: url + path, headers, body, replyCharsMax },
      { transport, wheel, hedgeMs: hedgeMs < timeoutMs ? hedgeMs : undefined, onRetry, onHedge },
      (reply) => {
        const meaning = meaningOf(reply, timeoutMs)
        end(meaning.kind === 'answer' ? 'alive' : meaning.server)
        done(meaning)
      },
    )
    return (server) => {
      abandon()
      end(server)
    }
  }
}

/**
 * Calls `giveUp` when the time is over or the caller no longer waits, unless the returned function
 * was called first. Throws a TypeError for an invalid `signal`.
 */
export function limitWait(
  limits: {
    readonly wheel: TimerWheel
    readonly timeoutMs: number
    readonly signal: AbortSignal | undefined
  },
  giveUp: (kind: 'timed_out' | 'aborted') => void,
): () => void {
  const { wheel, timeoutMs, signal } = limits
  if (signal && typeof signal.addEventListener !== 'function') {
    throw new TypeError('`signal` must be an AbortSignal.')
  }
  const onAbort = (): void => giveUp('aborted')
  const deadline = wheel.add(timeoutMs, () => giveUp('timed_out'))
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    wheel.remove(deadline)
    signal?.removeEventListener('abort', onAbort)
  }
}

export type Ask = (
  request: Omit<Parameters<OpenRequest>[0], 'body' | 'isHeavy'> & {
    readonly body: unknown
    readonly signal: AbortSignal | undefined
  },
) => Promise<Meaning>

/** For batches and feedback. Rejects if the request cannot be written or its signal is invalid. */
export function askBy(open: OpenRequest, wheel: TimerWheel): Ask {
  return async ({ signal, body, ...request }) => {
    const { timeoutMs } = request
    const text = JSON.stringify(body)
    return new Promise((resolve) => {
      let abandon: ReturnType<OpenRequest> | undefined
      const giveUp = (kind: 'timed_out' | 'aborted'): void => {
        stop()
        abandon?.(kind === 'timed_out' ? 'silent' : 'unknown')
        resolve(meaningOf({ kind }, timeoutMs))
      }
      const stop = limitWait({ wheel, timeoutMs, signal }, giveUp)
      if (signal?.aborted === true) giveUp('aborted')
      else {
        abandon = open({ ...request, body: text, isHeavy: true }, (meaning) => {
          stop()
          resolve(meaning)
        })
      }
    })
  }
}
