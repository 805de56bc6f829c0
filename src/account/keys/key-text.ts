// The text of a key: `irk_<id>_<secret><checksum>`, 55 characters; of a test key `irkt_…`, 56.
//
//   irk_ 4Tq0ZkB1xWcy _ 9fJ2…32 characters…Lq 0Zx41K
//   │    │              │                     └ 6: CRC-32 of all before it, base 62
//   │    │              └ 32: the secret, 190 random bits
//   │    └ 12: the id, 71 random bits; printed in lists and logs, no secret
//   └ so that a scanner of repositories finds a key that leaked
//
// The checksum says "this was mistyped" before anything is looked up. It is no protection: anyone
// can compute it. Not here: what a key may do, and whether it exists.

import { randomBytes } from 'node:crypto'
import {
  keyChecksum,
  keyChecksumChars,
  keyDigits as digits,
  keyIdChars as idChars,
  keyPrefix,
  keySecretChars as secretChars,
  testKeyPrefix,
} from '../../base/key-form.ts'

/** Characters of a body behind the prefix: id, `_`, secret; and of all of it, with the checksum. */
const bodyChars = idChars + 1 + secretChars
const restChars = bodyChars + keyChecksumChars

export const keyTextChars = keyPrefix.length + restChars

/** 1 for the character codes of base 62. */
const isDigit = new Uint8Array(128)
for (let i = 0; i < digits.length; i += 1) isDigit[digits.charCodeAt(i)] = 1

export interface KeyText {
  readonly id: string
  readonly secret: string
  readonly test?: boolean
}

/** Uniform base-62 characters; bytes from 248 on are thrown away, for 248 is 4 × 62. */
function randomDigits(count: number): string {
  let text = ''
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 248 && text.length < count) text += digits.charAt(byte % digits.length)
    }
  }
  return text
}

export function randomId(): string {
  return randomDigits(idChars)
}

export function randomSecret(): string {
  return randomDigits(secretChars)
}

/** `parseKeyText` is its inverse. */
export function formatKeyText(key: KeyText): string {
  const body = `${key.test === true ? testKeyPrefix : keyPrefix}${key.id}_${key.secret}`
  return body + keyChecksum(body)
}

/** Reads a key's text; `undefined` for any other form and for a checksum that does not fit. */
export function parseKeyText(text: string): KeyText | undefined {
  const test = text.startsWith(testKeyPrefix)
  if (!test && !text.startsWith(keyPrefix)) return undefined
  const idFrom = test ? testKeyPrefix.length : keyPrefix.length
  const idTo = idFrom + idChars
  const secretTo = idFrom + bodyChars
  if (text.length !== idFrom + restChars) return undefined
  for (let i = idFrom; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (i === idTo ? code !== 0x5f : isDigit[code] !== 1) return undefined
  }
  if (keyChecksum(text.slice(0, secretTo)) !== text.slice(secretTo)) return undefined
  const parsed = { id: text.slice(idFrom, idTo), secret: text.slice(idTo + 1, secretTo) }
  return test ? { ...parsed, test } : parsed
}

export function isKeyId(text: string): boolean {
  if (text.length !== idChars) return false
  for (let i = 0; i < idChars; i += 1) {
    if (isDigit[text.charCodeAt(i)] !== 1) return false
  }
  return true
}
