// Finds out that the address of a request is a proxy's and not the visitor's, because `trust` or
// `header` does not fit the proxies in front: the address is private, and a forwarding header holds
// a public one, or a trusted proxy wrote something that is no address. Unsaid, that lets everybody
// in, for a private address is a bogon.
//
// Invariants: says nothing of a public address, so that no header is a mistake on a server without
// proxies. What it says repeats no address from the left of a header, which anybody may write.

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
/** The unspecified addresses besides: nobody connects from them. */
const isPrivate = readTrust([...privateRanges, '0.0.0.0/8', '::'])

function isPublic(address: string | undefined): boolean {
  return address !== undefined && !isPrivate(address, 0)
}

/** Headers that proxies write. Only the first ones can be named by `header`. */
const knownHeaders = [
  ...addressHeaders,
  'x-real-ip',
  'x-client-ip',
  'x-original-forwarded-for',
  'x-envoy-external-address',
  'fly-client-ip',
  'fastly-client-ip',
  'do-connecting-ip',
  'x-azure-clientip',
  'x-vercel-forwarded-for',
  'cloudfront-viewer-address',
]

/** What is wrong and which setting mends it; `undefined` where nothing is known to be wrong. */
export function trustMistake(
  request: AddressedRequest,
  source: AddressSource,
  { address, isUnread, named }: ProxyWalk,
): string | undefined {
  const { header } = source
  if (address === undefined || isPublic(address)) return undefined
  if (isUnread) {
    return (
      `The proxy ${address} names the visitor in ${header} by something that is no address: ` +
      'have it write the address.'
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
  return `${found}: have the proxy write ${header}${instead}.`
}

function wrongTrust({ trust, header }: AddressSource, address: string, hops: number): string {
  const sends = `sends ${header}`
  const count = `count the proxies in front, probably \`trust: ${hops}\``
  if (trust === 0) return `\`trust\` is not set, but the proxy ${address} ${sends}: ${count}.`
  const isCovered = typeof trust === 'number' || trustOf(trust)(address, 0)
  const range = privateRanges.find((one) => trustOf(one)(address, 0))
  if (!isCovered && range !== undefined) {
    const proxy = `the proxy ${address}, which ${sends}`
    return `\`trust\` does not hold ${proxy}: add '${range}' or its address.`
  }
  const ends = `\`trust: ${JSON.stringify(trust)}\` ends at ${address}`
  return `${ends}, but ${header} holds a public address: ${count}.`
}

function holdsPublic(request: AddressedRequest, name: string): boolean {
  const value = headerOf(request, name)
  if (value === undefined) return false
  // A list, whichever it is: nothing is judged by it.
  const list = name === 'forwarded' ? name : 'x-forwarded-for'
  return forwardedAddresses(list, value).some(isPublic)
}
