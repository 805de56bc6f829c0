// The connections of one run: two pools, one for addresses that were configured and one, guarded,
// for those that a redirect names (see reach.ts). They never share a connection, else a redirect
// could ride on one that was opened without the guard. HTTP_PROXY, HTTPS_PROXY and NO_PROXY hold.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Dispatcher } from 'undici'
import { EnvHttpProxyAgent } from 'undici'
import { IpriskError, messageOf } from '../../src/base/error.ts'
import { packageRoot } from '../../src/base/root.ts'
import type { Health } from './health.ts'
import type { FetchLimits } from './limits.ts'
import { isSpecial, refusedAddress, watchedLookup } from './reach.ts'

export interface Network {
  readonly limits: FetchLimits
  readonly health: Health
  readonly userAgent: string
  /** For configured addresses. */
  readonly open: Dispatcher
  /** For the targets of redirects: public addresses only. */
  readonly guarded: Dispatcher
  /** Whether a configured host turned out to be private when it was connected to. */
  isPrivate(host: string): boolean
  close(): Promise<void>
}

export function openNetwork(options: {
  readonly limits: FetchLimits
  readonly health: Health
  readonly userAgent: string
}): Network {
  const { limits, health, userAgent } = options
  const privateHosts = new Set<string>()
  const open = openPool(limits, (host, addresses) => {
    if (addresses.some(isSpecial)) privateHosts.add(host)
  })
  const guarded = openPool(limits, (host, addresses) => {
    const special = addresses.find(isSpecial)
    if (special !== undefined) throw refusedAddress(host, special)
  })
  return {
    limits,
    health,
    userAgent,
    open,
    guarded,
    isPrivate: (host) => isSpecial(host) || privateHosts.has(host),
    async close() {
      // Not `close`: whatever still hangs on a connection has been given up.
      await Promise.all([open.destroy(), guarded.destroy()])
    },
  }
}

function openPool(
  limits: FetchLimits,
  judge: (host: string, addresses: readonly string[]) => void,
): Dispatcher {
  try {
    return new EnvHttpProxyAgent({
      connections: limits.concurrency,
      connect: { timeout: limits.connectMs, lookup: watchedLookup(judge) },
      proxyTls: { timeout: limits.connectMs },
      requestTls: { timeout: limits.connectMs },
      // Plain http goes through a proxy as such: many proxies tunnel to port 443 only.
      proxyTunnel: false,
    })
  } catch (thrown) {
    throw new IpriskError({
      code: 'fetch_proxy',
      message: `HTTP_PROXY or HTTPS_PROXY is no usable address: ${messageOf(thrown)}`,
      fault: 'usage',
      cause: thrown,
    })
  }
}

/** `iprisk/<version> (+<contact>)`: who asks, and where a publisher can complain. */
export function userAgentOf(contact: string | undefined): string {
  const { version, homepage } = ownPackage()
  const where = contact ?? homepage
  return where === undefined
    ? `iprisk/${version} (IP risk table compiler)`
    : `iprisk/${version} (+${where})`
}

function ownPackage(): { readonly version: string; readonly homepage: string | undefined } {
  const path = join(packageRoot, 'package.json')
  const { version, homepage } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  return { version: String(version), homepage: typeof homepage === 'string' ? homepage : undefined }
}
