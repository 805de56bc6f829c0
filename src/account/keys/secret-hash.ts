// The hash under which a secret is kept, and the one place where two are compared. Plain SHA-256: a
// slow hash protects secrets that can be guessed, and ours have 190 random bits.

import { createHash, timingSafeEqual } from 'node:crypto'

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'latin1').digest()
}

/** Compares in constant time. */
export function sameHash(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
