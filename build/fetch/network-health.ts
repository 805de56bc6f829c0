// Which hosts of a run are unreachable, and whether the network is up at all, so that a run without
// a network does not try seventy publishers one after another. A host that has answered once never
// counts as unreachable.

import { type IpriskError, environmentError } from '../../src/base/coded-error.ts'

export type NetworkHealth = ReturnType<typeof openNetworkHealth>

/** `hosts`: number of hosts in the run. */
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
          `or give --offline to build from stored copies`,
        { retryable: true },
      ),
    )
  return {
    /** Aborted, with an IpriskError as reason, when the run must end early. */
    get signal(): AbortSignal {
      return controller.signal
    },
    /** A connection succeeded, possibly to a proxy: there is a network. */
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
    /** All attempts to connect to the host failed. */
    onUnreachable(host: string, why: string): void {
      if (answered.has(host)) return
      unreachable.set(host, why)
      if (answered.size > 0 || unreachable.size < enough) return
      endWithoutNetwork(`tried ${[...unreachable.keys()].join(', ')}; the last: ${why}`)
    },
    /** Why the host is not tried again; `undefined` if it may be. */
    problemOf: (host: string): string | undefined => unreachable.get(host),
    /** Ends the run early for another reason. */
    end,
  }
}
