// Walks from the peer through the trusted proxies to the client (drawing in client-address.ts), and
// records where and why it ended, which reveals a wrong `trust`.

import { optionError } from '../option-error.ts'
import { bareAddress, forwardedAddresses } from './forwarded-header.ts'
import {
  type AddressHeader,
  type IsTrusted,
  type Trust,
  addressHeaders,
  readTrust,
} from './trusted-proxies.ts'

/** A request of any framework: Node's own, a fetch request with its peer, or a part of either. */
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
  /** The address that connects, if `socket` does not have it. */
  readonly peer?: string | undefined
}

export interface AddressSource {
  readonly trust: Trust
  readonly header: AddressHeader
}

export interface ProxyWalk {
  /** The client; `undefined` if not even the peer is known. */
  readonly address: string | undefined
  /** A trusted proxy wrote something that is not an address. */
  readonly isUnread: boolean
  /** The header's entries, that of the nearest proxy first. */
  readonly named: readonly (string | undefined)[]
}

export function walkProxies(
  request: AddressedRequest,
  { trust, header }: AddressSource,
): ProxyWalk {
  const isTrusted = trustOf(trust)
  const peerText = request.peer ?? request.socket?.remoteAddress ?? undefined
  const peer = peerText === undefined ? undefined : bareAddress(peerText)
  const name = checkedHeader(header)
  const value = headerOf(request, name)
  return walkFrom(peer, value === undefined ? [] : forwardedAddresses(name, value), isTrusted)
}

/** `inOrder` are the header's entries in their order. */
export function walkFrom(
  peer: string | undefined,
  inOrder: readonly (string | undefined)[],
  isTrusted: IsTrusted,
): ProxyWalk {
  let address = peer
  const named = inOrder.toReversed()
  for (const [hop, next] of named.entries()) {
    if (!isTrusted(address, hop)) break
    if (next === undefined) return { address, isUnread: true, named }
    address = next
  }
  return { address, isUnread: false, named }
}

/** Parsed once: an application uses the same few again and again. */
const readTrusts = new Map<string, IsTrusted>()
const readTrustsMax = 64

export function trustOf(trust: Trust): IsTrusted {
  let key = ''
  try {
    key = JSON.stringify(trust)
  } catch {
    // An empty text is not a valid trust; `readTrust` rejects it.
  }
  let isTrusted = readTrusts.get(key)
  if (isTrusted !== undefined) return isTrusted
  isTrusted = readTrust(trust)
  if (readTrusts.size < readTrustsMax) readTrusts.set(key, isTrusted)
  return isTrusted
}

/** The name in lower case. Throws a TypeError if it is not one that may be trusted. */
export function checkedHeader(header: AddressHeader): AddressHeader {
  const name = typeof header === 'string' ? header.toLowerCase() : ''
  const known = addressHeaders.find((one) => one === name)
  if (known !== undefined) return known
  throw optionError(`\`header\` must be one of ${addressHeaders.join(', ')}.`)
}

/**
 * `name` is in lower case. Some gateways pass on headers with capitals, and one that came in two
 * spellings as two: those are the lines of one header, in order.
 */
export function headerOf(request: AddressedRequest, name: string): string | undefined {
  // Callers without types pass on what their gateway gave them.
  const headers = (request.headers ?? {}) as Readonly<Record<string, unknown>>
  const lines =
    typeof headers['get'] === 'function'
      ? [(headers as { get(name: string): unknown }).get(name)]
      : Object.keys(headers)
          .filter((one) => one.length === name.length && one.toLowerCase() === name)
          .map((one) => headers[one])
  const texts = lines.flat().filter((line) => typeof line === 'string')
  return texts.length === 0 ? undefined : texts.join(', ')
}
