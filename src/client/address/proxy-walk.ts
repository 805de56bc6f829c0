// Walks from the peer through the trusted proxies to the client (client-address.ts has the
// drawing), and keeps where the walk ended and why, from which a wrong `trust` can be seen.

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
        readonly remoteAddress?: string | null | undefined
        readonly localAddress?: string | undefined
        readonly destroyed?: boolean
      }
    | null
    | undefined
  /** Who connects, where `socket` does not say it. */
  readonly peer?: string | undefined
}

export interface AddressSource {
  readonly trust: Trust
  readonly header: AddressHeader
}

export interface ProxyWalk {
  /** The client; `undefined` where not even the peer is known. */
  readonly address: string | undefined
  /** Whether a trusted proxy named the client by something that is no address. */
  readonly isUnread: boolean
  /** What the header holds, the nearest proxy's word first; empty where it did not come. */
  readonly named: readonly (string | undefined)[]
}

export function walkProxies(
  request: AddressedRequest,
  { trust, header }: AddressSource,
): ProxyWalk {
  const isTrusted = trustOf(trust)
  const peerText = request.peer ?? request.socket?.remoteAddress ?? undefined
  let address = peerText === undefined ? undefined : bareAddress(peerText)
  const value = headerOf(request, checkedHeader(header))
  const named = value === undefined ? [] : forwardedAddresses(header, value).toReversed()
  for (const [hop, next] of named.entries()) {
    if (!isTrusted(address, hop)) break
    if (next === undefined) return { address, isUnread: true, named }
    address = next
  }
  return { address, isUnread: false, named }
}

/** Read once: applications give the same few again and again. */
const readTrusts = new Map<string, IsTrusted>()
const readTrustsMax = 64

export function trustOf(trust: Trust): IsTrusted {
  const key = JSON.stringify(trust)
  let isTrusted = readTrusts.get(key)
  if (isTrusted !== undefined) return isTrusted
  isTrusted = readTrust(trust)
  if (readTrusts.size < readTrustsMax) readTrusts.set(key, isTrusted)
  return isTrusted
}

export function checkedHeader(header: AddressHeader): AddressHeader {
  if (addressHeaders.includes(header)) return header
  throw new TypeError(`iprisk: \`header\` must be one of ${addressHeaders.join(', ')}.`)
}

/** `name` is in lower case; some gateways hand headers on with capitals in theirs. */
export function headerOf({ headers }: AddressedRequest, name: string): string | undefined {
  if (typeof headers.get === 'function') {
    return (headers as { get(name: string): string | null }).get(name) ?? undefined
  }
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>
  let value = record[name]
  if (value === undefined) {
    const written = Object.keys(record).find((one) => one.toLowerCase() === name)
    value = written === undefined ? undefined : record[written]
  }
  return typeof value === 'object' ? value.join(', ') : value
}
