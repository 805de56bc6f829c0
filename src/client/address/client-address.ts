// `iprisk-client/address`: whose address it is that asks, the one function between a request and a
// check.
//
// Each proxy names the host that connected to it. So the walk begins at the peer, whose address no
// one can choose, and goes on to the host that it names as long as the one that names it is
// trusted:
//
//   X-Forwarded-For: 198.51.100.9, 203.0.113.7, 10.0.0.2        peer 10.0.0.1
//                    │             │            └ named by 10.0.0.1, trusted: go on
//                    │             └ named by 10.0.0.2, trusted; itself not: this is the client
//                    └ named by the client: anybody can write that
//
// Invariants: the answer is never what an untrusted host said; it is an address as the API takes
// one; what is no address ends the walk at the host that named it.

import { bareAddress, forwardedAddresses } from './forwarded-header.ts'
import {
  type AddressHeader,
  type IsTrusted,
  type Trust,
  addressHeaders,
  readTrust,
} from './trusted-proxies.ts'

/** A request of any framework: Node's own, one of fetch's with its peer, or a part of either. */
export interface AddressedRequest {
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>
  readonly socket?:
    | {
        readonly remoteAddress?: string | undefined
        readonly localAddress?: string | undefined
        readonly destroyed?: boolean
      }
    | null
    | undefined
  /** Who connects, where `socket` does not say it. */
  readonly peer?: string | undefined
}

export interface AddressOptions {
  /** Default: none, so that the peer is the client. */
  readonly trust?: Trust
  /**
   * What the trusted proxies write, default `x-forwarded-for`. Others are ignored: a proxy hands a
   * header that it does not write on as the client sent it.
   */
  readonly header?: AddressHeader
}

/** The client's address; `undefined` where not even the peer's is known. */
export function clientAddress(
  request: AddressedRequest,
  { trust = 0, header = 'x-forwarded-for' }: AddressOptions = {},
): string | undefined {
  const isTrusted = trustOf(trust)
  const peerText = request.peer ?? request.socket?.remoteAddress
  const peer = peerText === undefined ? undefined : bareAddress(peerText)
  const value = headerOf(request, checkedHeader(header))
  if (value === undefined || !isTrusted(peer, 0)) return peer
  let client = peer
  for (const [hop, address] of forwardedAddresses(header, value).toReversed().entries()) {
    if (address === undefined) return client
    client = address
    if (!isTrusted(address, hop + 1)) return client
  }
  return client
}

/**
 * Whether an address is unknown by the application's setup: the runtime names no peer, as over a
 * Unix socket, and no header is believed or none came. Of a connection that its client has ended no
 * peer is known either, but that, and what stands in a believed header, must not be a way around
 * the check.
 */
export function lacksAddressSource(
  request: AddressedRequest,
  { trust = 0, header = 'x-forwarded-for' }: AddressOptions = {},
): boolean {
  const { peer, socket } = request
  if (peer !== undefined || socket?.remoteAddress !== undefined) return false
  if (socket?.destroyed === true || socket?.localAddress !== undefined) return false
  return !trustOf(trust)(undefined, 0) || headerOf(request, checkedHeader(header)) === undefined
}

export type { AddressHeader, Trust, TrustedRange } from './trusted-proxies.ts'

/** Read once: applications give the same few again and again. */
const readTrusts = new Map<string, IsTrusted>()
const readTrustsMax = 64

function trustOf(trust: Trust): IsTrusted {
  const key = JSON.stringify(trust)
  let isTrusted = readTrusts.get(key)
  if (isTrusted !== undefined) return isTrusted
  isTrusted = readTrust(trust)
  if (readTrusts.size < readTrustsMax) readTrusts.set(key, isTrusted)
  return isTrusted
}

function checkedHeader(header: AddressHeader): AddressHeader {
  if (addressHeaders.includes(header)) return header
  throw new TypeError(`iprisk: \`header\` must be one of ${addressHeaders.join(', ')}.`)
}

function headerOf({ headers }: AddressedRequest, name: AddressHeader): string | undefined {
  if (typeof headers.get === 'function') {
    return (headers as { get(name: string): string | null }).get(name) ?? undefined
  }
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name]
  return typeof value === 'object' ? value.join(', ') : value
}
