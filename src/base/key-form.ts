// Finds keys in other text, for whatever must not repeat one, such as the log and request ids. The
// form is drawn in src/account/keys/key-text.ts.
//
// Found by their form are `irk_…` and `irkt_…` in any case, and `<id>_<secret>`; by their checksum
// an id and a secret without a prefix, with another sign between them or none. A secret alone only
// the keyring knows (`holdsSecret`). Invariant: the time is linear in the text.

import { crc32 } from 'node:zlib'

export const keyDigits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const keyPrefix = 'irk_'
export const testKeyPrefix = 'irkt_'
export const keyIdChars = 12
export const keySecretChars = 32
export const keyChecksumChars = 6

const prefixes = [keyPrefix, testKeyPrefix] as const
const tailChars = keySecretChars + keyChecksumChars

/** CRC-32 finds every change of one character and of two neighbours, swapped ones among them. */
export function keyChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < keyChecksumChars; i += 1) {
    text = keyDigits.charAt(rest % keyDigits.length) + text
    rest = Math.floor(rest / keyDigits.length)
  }
  return text
}

/** `_` also as addresses of the web write it. The id may be cut off, and so may the rest. */
const prefixed = /(irkt?)(?:_|%5f)([0-9a-z]{1,12})(?:_|%5f)[0-9a-z]+/gi
/** The beginning of one, cut off anywhere. */
const begun = /irkt?(?:_|%5f)/i
/** What can hold the secret and checksum of a key. */
const longRun = /[0-9A-Za-z]{38,}/g
/** What stands before it: the id, and what divides them. */
const idBefore = /[0-9A-Za-z]{12}([^0-9A-Za-z]|%5[Ff])?$/

export function beginsKey(text: string): boolean {
  return begun.test(text)
}

export function holdsKey(text: string): boolean {
  if (beginsKey(text)) return true
  for (const { 0: run, index } of text.matchAll(longRun)) {
    if (secretAt(text, index, run) !== undefined) return true
  }
  return false
}

export function redactKeys(text: string): string {
  const clean = text.replaceAll(prefixed, '$1_$2_[redacted]')
  return clean.replaceAll(longRun, (run: string, index: number) => {
    const at = secretAt(clean, index, run)
    return at === undefined ? run : `${run.slice(0, at)}[redacted]`
  })
}

function secretAt(text: string, index: number, run: string): number | undefined {
  // `%5F` ends in two characters of the run.
  const escaped = text[index - 1] === '%' && /^5f/i.test(run) ? 2 : 0
  const before = text.slice(Math.max(0, index - keyIdChars - 1), index)
  const [found = '', sign = ''] = idBefore.exec(before) ?? []
  const rest = run.slice(escaped)
  if (sign !== '' && rest.length >= tailChars) {
    const divided = sign === '_' || escaped > 0
    if (divided && rest.length === tailChars) return escaped
    if (isKey(found.slice(0, keyIdChars), rest)) return escaped
  }
  // Nothing between them, or a prefix that has lost its `_`.
  for (const from of [0, 3, 4, run.length - keyIdChars - tailChars]) {
    if (from < 0) continue
    const at = from + keyIdChars
    if (isKey(run.slice(from, at), run.slice(at))) return at
  }
  return undefined
}

function isKey(id: string, tail: string): boolean {
  if (tail.length < tailChars) return false
  const secret = tail.slice(0, keySecretChars)
  const checksum = tail.slice(keySecretChars, tailChars)
  return prefixes.some((prefix) => keyChecksum(`${prefix}${id}_${secret}`) === checksum)
}

/**
 * Whether a secret that `isSecret` knows begins or ends a run of letters and digits, with its
 * checksum or without. One in ten million keys has a secret in one case, like hexadecimal ids of
 * traces: such runs are skipped.
 */
export function holdsSecret(text: string, isSecret: (secret: string) => boolean): boolean {
  for (const run of text.match(/[0-9A-Za-z]{32,}/g) ?? []) {
    if (!/[a-z]/.test(run) || !/[A-Z]/.test(run)) continue
    for (const from of new Set([0, run.length - keySecretChars, run.length - tailChars])) {
      if (from >= 0 && isSecret(run.slice(from, from + keySecretChars))) return true
    }
  }
  return false
}
