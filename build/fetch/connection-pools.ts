// The connections of one run: a pool restricted to public addresses (src/ip/outbound-policy.ts),
// and one for private mirrors. HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { EnvHttpProxyAgent } from 'undici'
import { IpriskError, messageOf, environmentError } from '../../src/base/coded-error.ts'
import type { NetworkHealth } from './network-health.ts'
import type { FetchLimits } from './fetch-limits.ts'
import { type ResolveHost, isSpecialHost, outboundLookup } from '../../src/ip/outbound-policy.ts'

export type ConnectionPools = ReturnType<typeof openConnectionPools>

export function openConnectionPools(options: {
  readonly limits: FetchLimits
  readonly health: NetworkHealth
  readonly mirrorHost?: string | undefined
  /** For tests; the system's by default. */
  readonly resolve?: ResolveHost
}) {
  const { limits, health, mirrorHost, resolve = lookup } = options
  const unrestricted = openPool(limits, outboundLookup(resolve, undefined))
  const publicOnly = openPool(limits, outboundLookup(resolve, refusedAddress))
  // The pools' own `connect` events are lost behind a proxy.
  const onConnected = (): void => health.onConnected()
  subscribe(connectedChannel, onConnected)
  return {
    limits,
    health,
    unrestricted,
    publicOnly,
    /**
     * Whether `url`, which is `configured` or a redirect from it, may be private: on the operator's
     * mirror, or configured as a literal private address.
     */
    mayBePrivate: (url: URL, configured: URL): boolean =>
      isSpecialHost(configured.hostname) ||
      (configured.hostname === mirrorHost && url.hostname === mirrorHost),
    async close() {
      unsubscribe(connectedChannel, onConnected)
      // Not `close`: requests still on a connection have been given up.
      await Promise.all([unrestricted.destroy(), publicOnly.destroy()])
    },
  }
}

/** The error for a name or a redirect that leads into a private network. */
export function refusedAddress(host: string, address: string): IpriskError {
  return environmentError(
    'fetch_refused_address',
    `it leads to ${host}, whose address ${address} is not public, so it was not contacted; ` +
      'if it is your mirror, name it with --mirror',
  )
}

/** undici publishes every new connection here, also those to a proxy. */
const connectedChannel = 'undici:client:connected'

function openPool(limits: FetchLimits, watched: LookupFunction): Dispatcher {
  try {
    return new EnvHttpProxyAgent({
      connections: limits.concurrency,
      connect: { timeout: limits.connectMs, lookup: watched },
      proxyTls: { timeout: limits.connectMs },
      requestTls: { timeout: limits.connectMs },
      // Plain http uses the proxy without a tunnel: many proxies tunnel to port 443 only.
      proxyTunnel: false,
    })
  } catch (thrown) {
    throw new IpriskError({
      code: 'fetch_proxy',
      message: `HTTP_PROXY or HTTPS_PROXY is not a usable address: ${messageOf(thrown)}`,
      fault: 'usage',
      cause: thrown,
    })
  }
}
