// What the fetches of one run have learned of the network together: which hosts cannot be reached,
// and whether anything can. It keeps a run without a network from trying seventy publishers one
// after another. A host that has once answered is never counted as unreachable.

import { type IpriskError, environmentError } from '../../src/base/coded-error.ts'

export interface NetworkHealth {
  /** Aborted, with an IpriskError as reason, once the run is to end early. */
  readonly signal: AbortSignal
  onAnswer(host: string): void
  /** Something could be connected to, be it a proxy: there is a network. */
  onConnected(): void
  /** Ends the run where nothing was connected to or has answered so far. */
  endIfUnreached(afterMs: number): void
  /** All tries to connect to the host failed. */
  onUnreachable(host: string, why: string): void
  /** Why the host is not to be tried again; `undefined` where it is. */
  problemOf(host: string): string | undefined
  /** Ends the run early for another reason: its time is over, or the caller wants it. */
  end(reason: IpriskError): void
}

export function openNetworkHealth(options: {
  /** Distinct hosts that the run would ask. */
  readonly hosts: number
  readonly deadHosts: number
}): NetworkHealth {
  const controller = new AbortController()
  const answered = new Set<string>()
  const unreachable = new Map<string, string>()
  const enough = Math.min(options.hosts, options.deadHosts)
  let connected = false
  const endWithoutNetwork = (what: string): void => {
    if (controller.signal.aborted) return
    controller.abort(
      environmentError(
        'fetch_no_network',
        `no host can be reached (${what}); check the network, DNS and HTTPS_PROXY, ` +
          `or give --offline to build from stored copies`,
        { retryable: true },
      ),
    )
  }
  return {
    signal: controller.signal,
    onConnected() {
      connected = true
    },
    endIfUnreached(afterMs) {
      if (!connected && answered.size === 0) {
        endWithoutNetwork(`no connection within ${afterMs / 1000} s`)
      }
    },
    onAnswer(host) {
      answered.add(host)
      unreachable.delete(host)
    },
    onUnreachable(host, why) {
      if (answered.has(host)) return
      unreachable.set(host, why)
      if (answered.size > 0 || unreachable.size < enough) return
      endWithoutNetwork(`tried ${[...unreachable.keys()].join(', ')}; the last: ${why}`)
    },
    problemOf: (host) => unreachable.get(host),
    end(reason) {
      if (!controller.signal.aborted) controller.abort(reason)
    },
  }
}
