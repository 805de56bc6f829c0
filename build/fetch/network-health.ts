// What the fetches of one run have learned of the network together: which hosts cannot be reached,
// and whether anything can. It keeps a run without a network from trying seventy publishers one
// after another. A host that has once answered is never counted as unreachable.

import { type IpriskError, environmentError } from '../../src/base/coded-error.ts'

export type NetworkHealth = ReturnType<typeof openNetworkHealth>

/** `hosts`: how many the run would ask. */
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
    /** Aborted, with an IpriskError as reason, once the run is to end early. */
    get signal(): AbortSignal {
      return controller.signal
    },
    /** Something could be connected to, be it a proxy: there is a network. */
    onConnected() {
      connected = true
    },
    /** Ends the run where nothing was connected to or has answered so far. */
    endIfUnreached(afterMs: number): void {
      if (!connected && answered.size === 0) {
        endWithoutNetwork(`no connection within ${afterMs / 1000} s`)
      }
    },
    onAnswer(host: string): void {
      answered.add(host)
      unreachable.delete(host)
    },
    /** All tries to connect to the host failed. */
    onUnreachable(host: string, why: string): void {
      if (answered.has(host)) return
      unreachable.set(host, why)
      if (answered.size > 0 || unreachable.size < enough) return
      endWithoutNetwork(`tried ${[...unreachable.keys()].join(', ')}; the last: ${why}`)
    },
    /** Why the host is not to be tried again; `undefined` where it is. */
    problemOf: (host: string): string | undefined => unreachable.get(host),
    /** Ends the run early for another reason. */
    end,
  }
}
