// Canonical texts that identify an address in any notation, and the unit that belongs to one
// visitor. 6to4, NAT64, Teredo and IPv4-mapped addresses stand for the IPv4 address inside.

import { newAddressWords } from './address.ts'
import { EMBEDDED, embeddedIpv4, embeddedKind } from './embedded-ipv4.ts'
import { formatAddress, formatIpv4 } from './format-address.ts'
import { parseAddress } from './parse-address.ts'

const words = newAddressWords()

/** Canonical text of the IPv4 address inside, or of the address; `undefined` if invalid. */
export function innermostAddress(text: string): string | undefined {
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  const kind = family === 4 ? EMBEDDED.none : embeddedKind(words)
  if (kind !== EMBEDDED.none) return formatIpv4(embeddedIpv4(kind, words))
  return formatAddress(family, words)
}

/** The same, but the /64 for IPv6, which belongs to one line. */
export function visitorOf(text: string): string | undefined {
  const address = innermostAddress(text)
  if (address === undefined || !address.includes(':')) return address
  words.fill(0, 2)
  return `${formatAddress(6, words)}/64`
}

/** Candidates in free text, such as `::ffff:192.0.2.1`. */
const ipv4Forms = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)/g
const ipv6Forms = /[\da-f:]+/gi

/** Whether a text names an innermost address in any form, also defanged as `192[.]0[.]2[.]1`. */
export function mentionsAddress(text: string, address: string): boolean {
  const plain = text.replaceAll(/\[([.:])\]/g, '$1')
  const ipv6 = plain.match(ipv6Forms) ?? []
  return [
    ...(plain.match(ipv4Forms) ?? []),
    ...ipv6,
    ...ipv6.map((form) => form.replace(/^:(?!:)/, '').replace(/(?<!:):$/, '')),
  ].some((form) => innermostAddress(form) === address)
}
