// Host names of URLs that are addresses, and whether one of those is of the public Internet: for
// whoever connects to where others lead (build/fetch/ssrf-guard.ts, src/publish/fetch).

import { newAddressWords } from './address.ts'
import { embeddedIpv4, embeddedKind } from './embedded-ipv4.ts'
import { parseAddress } from './parse-address.ts'
import { isBogon } from './special-purpose.ts'

/** Whether the text is an address that is not of the public Internet. False for names. */
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
