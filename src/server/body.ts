// Hot path: the short form. Forbidden there: throw, regular expression.
//
// The body of a check to the text of its `ip` (contract 3.11): RFC 8259, escapes honoured, unknown
// members ignored, of a repeated `ip` the last one. `readIpPlainly` says what is right; `readIp`
// reads the form that nearly every client sends by itself and leaves the rest to it. Not here:
// whether the text is an address.

import { isUtf8 } from 'node:buffer'

/** The address as sent; `undefined` where the body is no JSON object with a string `ip`. */
export function readIp(body: Buffer): string | undefined {
  const text = readShortForm(body)
  return text === undefined ? readIpPlainly(body) : text
}

/** The same by JSON.parse: the slow, obvious twin. */
export function readIpPlainly(body: Buffer): string | undefined {
  if (!isUtf8(body)) return undefined
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (!Object.hasOwn(value, 'ip')) return undefined
  const { ip } = value as { readonly ip: unknown }
  return typeof ip === 'string' ? ip : undefined
}

const quote = 0x22
const backslash = 0x5c

/**
 * `{"ip":"…"}` with any white space between the tokens, one member, and printable ASCII without
 * escapes in it. `undefined` for everything else, right or wrong.
 */
function readShortForm(body: Buffer): string | undefined {
  let at = skipSpace(body, 0)
  if (body[at] !== 0x7b) return undefined
  at = skipSpace(body, at + 1)
  if (
    body[at] !== quote ||
    body[at + 1] !== 0x69 ||
    body[at + 2] !== 0x70 ||
    body[at + 3] !== quote
  ) {
    return undefined
  }
  at = skipSpace(body, at + 4)
  if (body[at] !== 0x3a) return undefined
  at = skipSpace(body, at + 1)
  if (body[at] !== quote) return undefined
  const from = at + 1
  at = from
  while (at < body.length && body[at] !== quote) {
    const byte = body[at]!
    if (byte < 0x20 || byte > 0x7e || byte === backslash) return undefined
    at += 1
  }
  const to = at
  at = skipSpace(body, at + 1)
  if (body[at] !== 0x7d) return undefined
  return skipSpace(body, at + 1) === body.length ? body.toString('latin1', from, to) : undefined
}

/** The white space of RFC 8259, and no other. */
function skipSpace(body: Buffer, from: number): number {
  let at = from
  for (;;) {
    const byte = body[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at += 1
  }
}
