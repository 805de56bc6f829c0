// The addresses in a header, in the order in which the proxies wrote them, the nearest proxy's
// last. Ports and brackets are removed; what is then not an address is `undefined`, but keeps its
// place, because the one to its left was named by that host.

import { addressGroups, unmapped } from './address-text.ts'

/** Longer headers are cut at the left, which the client itself wrote. */
const headerCharsMax = 4096

export function forwardedAddresses(header: string, value: string): readonly (string | undefined)[] {
  const text = value.slice(-headerCharsMax)
  if (header === 'forwarded') return forwardedFor(text)
  if (header !== 'x-forwarded-for') return [bareAddress(text)]
  // RFC 9110, 5.6.1: empty list elements do not count.
  const elements = text.split(',').filter((one) => one.trim() !== '')
  return elements.map(bareAddress)
}

/** One pair of RFC 7239; a quoted text may contain anything. */
const forPair = /^\s*for\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))\s*$/i

function forwardedFor(text: string): readonly (string | undefined)[] {
  const elements = partsOf(text, ',').filter((one) => one.trim() !== '')
  return elements.map((one) => {
    const pairs = partsOf(one, ';').map((pair) => forPair.exec(pair))
    const [, quoted, token] = pairs.find((pair) => pair !== null) ?? []
    return bareAddress(quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '')
  })
}

/**
 * The parts between separators outside quotes. Read from the right, where the nearest proxy wrote:
 * an unclosed quote spoils only what the client wrote.
 */
function partsOf(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let end = text.length
  let isQuoted = false
  for (let at = end - 1; at >= 0; at -= 1) {
    if (text[at] === '"') {
      if (!isEscaped(text, at)) isQuoted = !isQuoted
    } else if (text[at] === separator && !isQuoted) {
      parts.push(text.slice(at + 1, end))
      end = at
    }
  }
  parts.push(text.slice(0, end))
  return parts.toReversed()
}

/** Every second backslash before it is itself escaped. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text[first - 1] === '\\') first -= 1
  return (quote - first) % 2 === 1
}

/**
 * The address in a text that may have a port (a number, or an obfuscated one of RFC 7239 such as
 * `_p1`), brackets or a zone; IPv4 mapped into IPv6 becomes IPv4. `undefined` for everything else,
 * such as `unknown`, `_hidden` and garbage.
 */
export function bareAddress(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::(?:\d{1,5}|_[\w.-]+))?$/.exec(trimmed) ?? []
  const [, quad] = /^([\d.]+):(?:\d{1,5}|_[\w.-]+)$/.exec(trimmed) ?? []
  const address = (bracketed ?? quad ?? trimmed).replace(/%[\w.~-]+$/, '')
  const groups = addressGroups(address)
  return groups && (unmapped(groups) ?? address)
}
