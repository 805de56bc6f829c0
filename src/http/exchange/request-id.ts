// Request ids: the caller's if it may be repeated, else our own (contract 3.11: X-Request-Id).
// Invariants: an id consists of A–Z a–z 0–9 . _ - only, so it is safe in a header and in JSON
// without escaping; it holds no key and no key's secret, in any form that could still be used,
// because ids end up in the logs of everything they pass.
// Hot path: `isRequestId`, for usual ids: UUIDs, trace ids. Forbidden in it: allocation, throw,
// hashing, regular expressions. Only what has `_`, or as many letters of both cases and digits in a
// row as a secret, is examined more closely.

import { randomBytes } from 'node:crypto'
import { beginsKey, holdsKey, holdsSecret, keyDigits, keySecretChars } from '../../base/key-form.ts'

const charsMax = 64

const suspectChars = keySecretChars

/** What a character is in an id, as bits; 0 if not allowed. */
const digit = 1
const lower = 2
const upper = 4
const sign = 8
const underscore = 16
const classes = new Uint8Array(128)
for (const char of keyDigits) {
  const letter = char === char.toLowerCase() ? lower : upper
  classes[char.charCodeAt(0)] = char <= '9' ? digit : letter
}
for (const char of '.-') classes[char.charCodeAt(0)] = sign
classes['_'.charCodeAt(0)] = underscore

/** Whether the text can stand as a request id. `isSecret` knows the secrets of all keys. */
export function isRequestId(text: string, isSecret: (text: string) => boolean): boolean {
  if (text.length === 0 || text.length > charsMax) return false
  let run = 0
  let longest = 0
  let seen = 0
  for (let i = 0; i < text.length; i += 1) {
    const found = classes[text.charCodeAt(i)] ?? 0
    if (found === 0) return false
    seen |= found
    run = found < sign ? run + 1 : 0
    if (run > longest) longest = run
  }
  const divided = (seen & underscore) !== 0
  // After `_` a secret's case may have been changed; elsewhere one in ten million keys is in one
  // case.
  const mixed = (seen & lower) !== 0 && (seen & upper) !== 0
  if (longest < suspectChars) return !(divided && beginsKey(text))
  if (!divided && !mixed) return true
  return !holdsKey(text) && !holdsSecret(text, isSecret)
}

/** Base 36, of fixed width so that an id can be written in place: 2^41 ids. */
export const requestIdDigits = 8

/**
 * Our ids: 64 random bits and a number, so no other process or start repeats them. A request has
 * the number; it becomes text only where the id is written.
 */
export type RequestIds = ReturnType<typeof createRequestIds>

export function createRequestIds() {
  const prefix = `${randomBytes(8).toString('hex')}-`
  let count = 0
  return {
    prefix,
    next: () => ++count,
    text: (number: number) => prefix + number.toString(36).padStart(requestIdDigits, '0'),
  }
}

/** Below it, a division stays one of integers, five times as fast. */
const intMax = 2 ** 31 - 1

/** Writes what follows the prefix as ASCII at `at`. */
export function writeRequestIdNumber(out: Uint8Array, at: number, number: number): void {
  let rest = number
  for (let i = at + requestIdDigits - 1; i >= at; i--) {
    const next = rest <= intMax ? (rest / 36) | 0 : Math.floor(rest / 36)
    const digit = rest - next * 36
    out[i] = digit < 10 ? 0x30 + digit : 0x57 + digit
    rest = next
  }
}
