// Which address a log's line is about: the texts of proxies and peers without quotes, ports,
// brackets and zones, and of several the one that the client's `trust` would choose.

import { bareAddress } from '../client/address/forwarded-header.ts'
import { walkProxies } from '../client/address/proxy-walk.ts'
import type { Trust } from '../client/address/trusted-proxies.ts'

/** Passes by private addresses: the last public one counts. */
export const lastPublic: Trust = ['loopback', 'private', '100.64.0.0/10']

/** `peer` may be a list itself; `-` and nothing count as none. */
export function chooseAddress(
  peer: string,
  forwarded: string | undefined,
  trust: Trust = lastPublic,
): string | undefined {
  const isSingle = forwarded === undefined && !peer.includes(',')
  if (isSingle) return logAddress(peer)
  const texts = `${forwarded ?? ''},${peer}`
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== '-')
    .map((one) => logAddress(one) ?? one)
  const headers = { 'x-forwarded-for': texts.slice(0, -1).join(',') }
  return walkProxies({ headers, peer: texts.at(-1) ?? '' }, { trust, header: 'x-forwarded-for' })
    .address
}

const quoted = /^(["'])(.*)\1$/

function logAddress(text: string): string | undefined {
  const bare = text.trim().replace(quoted, '$2')
  // Eight groups and a port, as HAProxy and load balancers write IPv6.
  return bareAddress(bare) ?? bareAddress(bare.replace(/:\d{1,5}$/, ''))
}
