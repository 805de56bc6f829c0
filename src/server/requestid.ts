// Request ids: the caller's where it is fit to be repeated, else our own (contract 3.11).
//
// Invariant: an id that leaves here consists of A–Z a–z 0–9 . _ - only, so it can stand in a header
// and in JSON without escaping.

import { randomBytes } from 'node:crypto'

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
  return true
}

/** Makes ids that no other process and no later start repeats: 64 random bits and a counter. */
export function requestIds(): () => string {
  const prefix = `${randomBytes(8).toString('hex')}-`
  let count = 0
  return () => {
    count += 1
    return prefix + count.toString(36)
  }
}
