// Which hosts of a run are unreachable, and whether the network is up, so that a run without a
// network does not try every publisher. A host that answered once stays reachable.

import { type IpriskError, environmentError } from '../../src/base/coded-error.ts'

export type NetworkHealth = ReturnType<typeof openNetworkHealth>

export function openNetworkHealth(options: { readonly hosts: number; readonly deadHosts: number }) {
  const controller = new AbortController()
  const answered = new Set<string>()
  const unreachable = new Map<string, string>()
  const enough = Math.min(options.hosts, options.deadHosts)
  let connected = false
  const end = (reason: IpriskError): void => {
    if (!controller.signal.aborted) controller.abort(reason)
  }
  const endWithoutNetwork = (what: string): void =>
    end(
      environmentError(
        'fetch_no_network',
        `no host can be reached (${what}); check the network, DNS and HTTPS_PROXY, ` +
          `or pass --offline to build from stored copies`,
        { retryable: true },
      ),
    )
  return {
    /** Aborted with an IpriskError when the run must end early. */
    get signal(): AbortSignal {
      return controller.signal
    },
    /** A connection, possibly to a proxy, proves a network. */
    onConnected() {
      connected = true
    },
    /** Ends the run if there was neither a connection nor an answer. */
    endIfUnreached(afterMs: number): void {
      if (!connected && answered.size === 0) {
        endWithoutNetwork(`no connection within ${afterMs / 1000} s`)
      }
    },
    onAnswer(host: string): void {
      answered.add(host)
      unreachable.delete(host)
    },
    onUnreachable(host: string, why: string): void {
      if (answered.has(host)) return
      unreachable.set(host, why)
      if (answered.size > 0 || unreachable.size < enough) return
      endWithoutNetwork(`tried ${[...unreachable.keys()].join(', ')}; the last: ${why}`)
    },
    problemOf: (host: string): string | undefined => unreachable.get(host),
    end,
  }
}
