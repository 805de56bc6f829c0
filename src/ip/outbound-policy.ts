// Where a request to another machine may lead: schemes, addresses and redirects, for every HTTP
// client here (build/fetch, src/publish/fetch).
//
// A name is judged when it is resolved for the connection; one non-public address refuses all of
// it. Literal addresses are not resolved: call `isSpecialHost` first. Guarded connections are
// pooled apart from others. HTTP proxies resolve names themselves. Headers for an origin go to that
// origin only.

import type { LookupAddress, LookupAllOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { newAddressWords } from './address.ts'
import { embeddedIpv4, embeddedKind } from './embedded-ipv4.ts'
import { parseAddress } from './parse-address.ts'
import { isBogon } from './special-purpose.ts'

/** Per request. Real feeds need two; more is a loop. */
export const redirectsMax = 5

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

export const isWebUrl = ({ protocol }: URL): boolean =>
  protocol === 'http:' || protocol === 'https:'

export type Redirect =
  | { readonly kind: 'follow'; readonly to: URL }
  /** Its Location is missing or invalid. */
  | { readonly kind: 'no_address' }
  /** It leaves the web, or leads from https to http. */
  | { readonly kind: 'scheme' | 'downgrade'; readonly to: URL }

/** Where a redirect with this Location leads. Its host is not judged here. */
export function judgeRedirect(from: URL, location: string | undefined): Redirect {
  if (location === undefined || !URL.canParse(location, from.href)) return { kind: 'no_address' }
  const to = new URL(location, from)
  if (!isWebUrl(to)) return { kind: 'scheme', to }
  const isDowngrade = from.protocol === 'https:' && to.protocol === 'http:'
  return { kind: isDowngrade ? 'downgrade' : 'follow', to }
}

/** The used form of `dns.lookup`. */
export type ResolveHost = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

/** Resolves for connections; with `refuse`, non-public names fail with its error. */
export function outboundLookup(
  resolve: ResolveHost,
  refuse: ((host: string, address: string) => Error) | undefined,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const [first] = error === null ? found : []
      const special = refuse && first && found.find(({ address }) => isSpecialHost(address))
      if (first === undefined) {
        callback(error ?? new Error(`${hostname} has no address`), '', 0)
      } else if (refuse && special) callback(refuse(hostname, special.address), '', 0)
      else if (options.all === true) callback(null, found)
      else callback(null, first.address, first.family)
    })
  }
}

/** Whether the text is a non-public address. False for names. */
export function isSpecialHost(text: string): boolean {
  const [bare = ''] = text.replace(/^\[|\]$/g, '').split('%')
  const words = newAddressWords()
  const family = parseAddress(bare, words)
  if (family === 0) return false
  if (isBogon(family, words)) return true
  if (family === 4) return false
  const kind = embeddedKind(words)
  if (kind === 0) return false
  const inner = newAddressWords()
  inner[0] = embeddedIpv4(kind, words)
  return isBogon(4, inner)
}
