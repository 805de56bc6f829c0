// `iprisk-client/address`: the client's address of a request, for a check.
// Each proxy names the host that connected to it. So the walk begins at the peer, whose address
// cannot be forged, and goes on to the host it names as long as the one naming it is trusted:
//   X-Forwarded-For: 198.51.100.9, 203.0.113.7, 10.0.0.2        peer 10.0.0.1
//                    │             │            └ named by 10.0.0.1, trusted: continue
//                    │             └ named by 10.0.0.2, trusted; itself not: this is the client
//                    └ named by the client: anyone can write that
// Invariants: the answer never comes from an untrusted host; it is an address as the API accepts
// one; an invalid address ends the walk at the host that named it.

import {
  type AddressedRequest,
  checkedHeader,
  headerOf,
  trustOf,
  walkProxies,
} from './proxy-walk.ts'
import type { AddressHeader, Trust } from './trusted-proxies.ts'

export interface AddressOptions {
  /** Default: none, so that the peer is the client. */
  readonly trust?: Trust
  /**
   * What the trusted proxies write, default `x-forwarded-for`. Other headers are ignored: a proxy
   * passes on a header that it does not write as the client sent it.
   */
  readonly header?: AddressHeader
}

/**
 * The client's address; `undefined` if not even the peer's is known.
 *
 * @example const ip = clientAddress(request, { trust: 'loopback' })
 */
export function clientAddress(
  request: AddressedRequest,
  { trust = 0, header = 'x-forwarded-for' }: AddressOptions = {},
): string | undefined {
  return walkProxies(request, { trust, header }).address
}

/**
 * Whether the application's setup hides the address: the runtime names no peer, as over a Unix
 * socket, and no trusted header came. False for a connection that its client has closed, and for a
 * wrong trusted header: neither may bypass the check.
 *
 * @example if (lacksAddressSource(request, { trust: 1 })) log.error('no proxy sets a header')
 */
export function lacksAddressSource(
  request: AddressedRequest,
  { trust = 0, header = 'x-forwarded-for' }: AddressOptions = {},
): boolean {
  const { peer, socket } = request
  if ((peer ?? socket?.remoteAddress ?? undefined) !== undefined) return false
  if (socket?.destroyed === true || socket?.localAddress !== undefined) return false
  return !trustOf(trust)(undefined, 0) || headerOf(request, checkedHeader(header)) === undefined
}

export type { AddressedRequest } from './proxy-walk.ts'
export type { AddressHeader, Trust, TrustedRange } from './trusted-proxies.ts'
