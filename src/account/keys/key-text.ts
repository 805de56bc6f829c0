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
  keyDigits as digits,
  keyIdChars as idChars,
  keyPrefix,
  keySecretChars as secretChars,
  testKeyPrefix,
} from '../../base/key-form.ts'

const idForm = /^[0-9A-Za-z]{12}$/
/** What the checksum is of, in it the id and the secret; and the checksum. */
const keyForm = /^(irkt?_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})$/

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
  const [, body = '', id = '', secret = '', checksum] = keyForm.exec(text) ?? []
  if (keyChecksum(body) !== checksum) return undefined
  return text.startsWith(testKeyPrefix) ? { id, secret, test: true } : { id, secret }
}

export const isKeyId = (text: string): boolean => idForm.test(text)
