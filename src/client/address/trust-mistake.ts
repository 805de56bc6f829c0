// Detects that a request is judged by a proxy's address instead of the visitor's, because `trust`
// or `header` does not match the proxies in front: the address is private while a forwarding header
// holds a public one, or a trusted proxy wrote something that is not an address. Unreported, that
// lets every visitor in, because a private address is a bogon.
//
// Invariants: a public address is never a mistake, so no header can cause one on a server without
// proxies. Messages repeat no address from the left of a header, which any client can write.

import { forwardedAddresses } from './forwarded-header.ts'
import {
  type AddressSource,
  type AddressedRequest,
  type ProxyWalk,
  headerOf,
  trustOf,
} from './proxy-walk.ts'
import { addressHeaders, readTrust } from './trusted-proxies.ts'

const privateRanges = ['loopback', 'private', '100.64.0.0/10'] as const
/** With the unspecified addresses, from which no client connects. */
const isPrivate = readTrust([...privateRanges, '0.0.0.0/8', '::'])

function isPublic(address: string | undefined): boolean {
  return address !== undefined && !isPrivate(address, 0)
}

/** Headers that proxies write; only the `addressHeaders` are allowed in `header`. */
const knownHeaders = [
  ...addressHeaders,
  'x-client-ip',
  'x-cluster-client-ip',
  'x-nf-client-connection-ip',
  'x-appengine-user-ip',
  'x-original-forwarded-for',
  'x-envoy-external-address',
  'fastly-client-ip',
  'do-connecting-ip',
  'x-vercel-forwarded-for',
  'cloudfront-viewer-address',
]

/** What is wrong and which setting fixes it, if anything is known to be wrong. */
export function trustMistake(
  request: AddressedRequest,
  source: AddressSource,
  { address, isUnread, named }: ProxyWalk,
): string | undefined {
  const { header } = source
  if (address === undefined || isPublic(address)) return undefined
  if (isUnread) {
    return (
      `The proxy ${address} writes something in ${header} that is not an address: ` +
      'configure it to write the address of the visitor.'
    )
  }
  // The nearest public address is the visitor's, or that of a proxy such as Cloudflare's.
  const hops = named.findIndex(isPublic) + 1
  if (hops > 0) return wrongTrust(source, address, hops)
  const other = knownHeaders.find((name) => name !== header && holdsPublic(request, name))
  if (other === undefined) return undefined
  const found = `${header} holds no public address, but ${other} does`
  const instead = (addressHeaders as readonly string[]).includes(other)
    ? `, or set \`header: '${other}'\` if it writes that one itself`
    : ''
  return `${found}: configure the proxy to write ${header}${instead}.`
}

function wrongTrust({ trust, header }: AddressSource, address: string, hops: number): string {
  const sends = `sends ${header}`
  const count = `count the proxies in front, probably \`trust: ${hops}\``
  if (trust === 0) return `\`trust\` is not set, but the proxy ${address} ${sends}: ${count}.`
  const isCovered = typeof trust === 'number' || trustOf(trust)(address, 0)
  const range = privateRanges.find((one) => trustOf(one)(address, 0))
  if (!isCovered && range !== undefined) {
    const proxy = `the proxy ${address}, which ${sends}`
    return `\`trust\` does not include ${proxy}: add '${range}' or its address.`
  }
  const ends = `\`trust: ${JSON.stringify(trust)}\` stops at ${address}`
  return `${ends}, but ${header} holds a public address: ${count}.`
}

function holdsPublic(request: AddressedRequest, name: string): boolean {
  const value = headerOf(request, name)
  if (value === undefined) return false
  // Always parsed as a list: it decides nothing.
  const list = name === 'forwarded' ? name : 'x-forwarded-for'
  return forwardedAddresses(list, value).some(isPublic)
}
