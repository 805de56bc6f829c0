// Where a connection may lead. The operator's mirror may be anywhere, the loopback included; so may
// an address that is configured in figures, and what it redirects to. Publishers' names and
// redirects are not trusted: they lead to public addresses only, and a name with one address that
// is not public is refused whole. The check is made where the name is resolved for the connection,
// so a name cannot be judged as one address and then connected to as another. Behind an HTTP proxy
// the proxy resolves names; there only addresses written as such are judged.

import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { IpriskError } from '../../src/base/coded-error.ts'

/** The error for a name or a redirect that leads into a private network. */
export function refusedAddress(host: string, address: string): IpriskError {
  return new IpriskError({
    code: 'fetch_refused_address',
    message:
      `it leads to ${host}, which is ${address}: not a public address, so it is not connected to; ` +
      `if that is meant, name it as your mirror (--mirror)`,
    fault: 'environment',
  })
}

/** What of `dns.lookup` is used here. */
export type ResolveHost = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

/**
 * A resolver for connections. `judge` sees the name and every address of it before anything is
 * connected, and refuses by throwing.
 */
export function inspectedLookup(
  resolve: ResolveHost,
  judge: (host: string, addresses: readonly string[]) => void,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0)
        return
      }
      try {
        judge(
          hostname,
          found.map((each) => each.address),
        )
      } catch (refusal) {
        callback(refusal as Error, '', 0)
        return
      }
      const first = found[0]
      if (options.all === true) callback(null, found)
      else if (first !== undefined) callback(null, first.address, first.family)
      else callback(new Error(`${hostname} has no address`), '', 0)
    })
  }
}
