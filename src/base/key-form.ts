// Finds keys in other text, such as the log and request ids (form: src/account/keys/key-text.ts),
// in linear time.
//
// By form: `irk_…` and `irkt_…` in any case, and `<id>_<secret>`. By checksum: an id and a secret
// without prefix, with any or no separator. Only the keyring knows a secret alone (`holdsSecret`).

import { crc32 } from 'node:zlib'

export const keyDigits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const keyPrefix = 'irk_'
export const testKeyPrefix = 'irkt_'
export const keyIdChars = 12
export const keySecretChars = 32
export const keyChecksumChars = 6

const prefixes = [keyPrefix, testKeyPrefix] as const
const tailChars = keySecretChars + keyChecksumChars

/** CRC-32 detects every single changed character and swapped neighbours. */
export function keyChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < keyChecksumChars; i += 1) {
    text = keyDigits.charAt(rest % keyDigits.length) + text
    rest = Math.floor(rest / keyDigits.length)
  }
  return text
}

/** `_` may be URL-encoded; the id and the rest may be cut off. */
const prefixed = /(irkt?)(?:_|%5f)([0-9a-z]{1,12})(?:_|%5f)[0-9a-z]+/gi
/** The beginning of a key, cut off anywhere. */
const begun = /irkt?(?:_|%5f)/i
/** May be a key's secret and checksum. */
const longRun = /[0-9A-Za-z]{38,}/g
/** Before it: the id and a separator. */
const idBefore = /[0-9A-Za-z]{12}([^0-9A-Za-z]|%5[Ff])?$/

export const beginsKey = (text: string): boolean => begun.test(text)

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
  // No separator, or a prefix without its `_`.
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
 * Whether a secret known to `isSecret` begins or ends a run of letters and digits, with or without
 * checksum. Runs in one case, such as hexadecimal trace ids, are skipped: one in ten million
 * secrets is.
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
