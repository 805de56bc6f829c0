// Request ids: the caller's where it is fit to be repeated, else our own (contract 3.11).
//
// Invariants: an id consists of A–Z a–z 0–9 . _ - only, so it can stand in a header and in JSON
// without escaping; it holds no key, because ids stand in the logs of everything that they pass.

import { randomBytes } from 'node:crypto'
import { keyPrefix } from '../../account/keys/key-text.ts'

const charsMax = 64

/** 1 for the character codes that an id may hold. */
const allowed = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-') {
  allowed[char.charCodeAt(0)] = 1
}

/** Whether the text can stand as a request id. */
export function isRequestId(text: string): boolean {
  if (text.length === 0 || text.length > charsMax) return false
  for (let i = 0; i < text.length; i += 1) {
    if (allowed[text.charCodeAt(i)] !== 1) return false
  }
  return !text.includes(keyPrefix)
}

/** Base 36, of a fixed width so that an id can be written in place: 2^41 ids. */
export const requestIdDigits = 8

/**
 * Our ids: 64 random bits and a number, which no other process and no later start repeats. A
 * request has the number; it becomes text only where the id is written.
 */
export interface RequestIds {
  /** What all ids begin with. */
  readonly prefix: string
  /** The next number, from 1. */
  readonly next: () => number
  readonly text: (number: number) => string
}

export function createRequestIds(): RequestIds {
  const prefix = `${randomBytes(8).toString('hex')}-`
  let count = 0
  return {
    prefix,
    next: () => ++count,
    text: (number) => prefix + number.toString(36).padStart(requestIdDigits, '0'),
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
