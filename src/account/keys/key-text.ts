// The text of a key: `irk_<id>_<secret><checksum>`, 55 characters; of a test key `irkt_…`, 56.
//
//   irk_ 4Tq0ZkB1xWcy _ 9fJ2…32 characters…Lq 0Zx41K
//   │    │              │                     └ 6: CRC-32 of all before it, base 62
//   │    │              └ 32: the secret, 190 random bits
//   │    └ 12: the id, 71 random bits; printed in lists and logs, no secret
//   └ so that a scanner of repositories finds a key that leaked
//
// The checksum detects typing errors before any look-up; it is not a security measure.

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
/** The checksum covers the first group. */
const keyForm = /^(irkt?_([0-9A-Za-z]{12})_([0-9A-Za-z]{32}))([0-9A-Za-z]{6})$/

export interface KeyText {
  readonly id: string
  readonly secret: string
  readonly test?: boolean
}

/** Uniform base 62; 248 is 4 × 62, so larger bytes are discarded. */
function randomDigits(count: number): string {
  let text = ''
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 248 && text.length < count) text += digits.charAt(byte % digits.length)
    }
  }
  return text
}

export const randomId = (): string => randomDigits(idChars)

export const randomSecret = (): string => randomDigits(secretChars)

export function formatKeyText(key: KeyText): string {
  const body = `${key.test === true ? testKeyPrefix : keyPrefix}${key.id}_${key.secret}`
  return body + keyChecksum(body)
}

/** `undefined` for another form or a wrong checksum. */
export function parseKeyText(text: string): KeyText | undefined {
  const [, body = '', id = '', secret = '', checksum] = keyForm.exec(text) ?? []
  if (keyChecksum(body) !== checksum) return undefined
  return text.startsWith(testKeyPrefix) ? { id, secret, test: true } : { id, secret }
}

export const isKeyId = (text: string): boolean => idForm.test(text)
