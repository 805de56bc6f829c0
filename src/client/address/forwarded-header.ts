// The addresses that a header hands on, in the order in which the proxies wrote them, the nearest
// proxy's word last. Ports and brackets are removed; whatever then is no address is `undefined`,
// but keeps its place, for whoever stands to its left was named by whoever is meant by it.

import { addressGroups, unmapped } from './address-text.ts'
import type { AddressHeader } from './trusted-proxies.ts'

/** Longer headers are cut at the left, which the client itself wrote. */
const headerCharsMax = 4096

export function forwardedAddresses(
  header: AddressHeader,
  value: string,
): readonly (string | undefined)[] {
  const text = value.slice(-headerCharsMax)
  if (header === 'forwarded') return forwardedFor(text)
  if (header !== 'x-forwarded-for') return [bareAddress(text)]
  // RFC 9110, 5.6.1: empty elements of a list count for nothing.
  const elements = text.split(',').filter((one) => one.trim() !== '')
  return elements.map(bareAddress)
}

/** One element of RFC 7239 is pairs with semicolons between; texts in quotes may hold anything. */
const element = /(?:[^",]|"(?:[^"\\]|\\.)*")+/g
const forPair = /(?:^|;)\s*for\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;",]+))\s*(?=;|$)/i

function forwardedFor(text: string): readonly (string | undefined)[] {
  const elements = (text.match(element) ?? []).filter((one) => one.trim() !== '')
  return elements.map((one) => {
    const [, quoted, token] = forPair.exec(one) ?? []
    return bareAddress(quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '')
  })
}

/**
 * The address in a text that may have a port, brackets or a zone with it; IPv4 that is mapped into
 * IPv6, as sockets for both families name their peers, is IPv4. `undefined` for all else, such as
 * `unknown`, `_hidden` and garbage.
 */
export function bareAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed) ?? []
  const [, quad] = /^([\d.]+):\d{1,5}$/.exec(trimmed) ?? []
  const address = (bracketed ?? quad ?? trimmed).replace(/%[\w.~-]+$/, '')
  const groups = addressGroups(address)
  return groups && (unmapped(groups) ?? address)
}
