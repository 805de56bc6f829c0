// The addresses that a header hands on, in the order in which the proxies wrote them, the nearest
// proxy's word last. Ports and brackets are removed; whatever then is no address is `undefined`,
// but keeps its place, for whoever stands to its left was named by whoever is meant by it.

import { addressGroups, unmapped } from './address-text.ts'

/** Longer headers are cut at the left, which the client itself wrote. */
const headerCharsMax = 4096

export function forwardedAddresses(header: string, value: string): readonly (string | undefined)[] {
  const text = value.slice(-headerCharsMax)
  if (header === 'forwarded') return forwardedFor(text)
  if (header !== 'x-forwarded-for') return [bareAddress(text)]
  // RFC 9110, 5.6.1: empty elements of a list count for nothing.
  const elements = text.split(',').filter((one) => one.trim() !== '')
  return elements.map(bareAddress)
}

/** One pair of RFC 7239; a text in quotes may hold anything. */
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
 * a quote that the client leaves open spoils what the client wrote and nothing else.
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

/** Of the backslashes before it each second one is escaped itself. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote
  while (text[first - 1] === '\\') first -= 1
  return (quote - first) % 2 === 1
}

/**
 * The address in a text that may have a port (a number, or a hidden one of RFC 7239 such as `_p1`),
 * brackets or a zone with it; IPv4 mapped into IPv6 becomes IPv4. `undefined` for all else, such as
 * `unknown`, `_hidden` and garbage.
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
