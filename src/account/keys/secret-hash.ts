// The hash under which a secret is kept, and the one place where two hashes are compared.
//
// Plain SHA-256, no slow hash: a slow one protects secrets that people choose and others can guess.
// Ours have 190 random bits; whoever holds the hash has nothing to try.

import { createHash, timingSafeEqual } from 'node:crypto'

/** SHA-256 of a secret, 32 bytes. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'latin1').digest()
}

/** Compares in constant time. Both are hashes of `hashSecret`. */
export function sameHash(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
