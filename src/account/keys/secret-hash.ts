// How secrets are hashed and compared. Plain SHA-256: slow hashes protect guessable secrets, and
// ours have 190 random bits.

import { createHash, timingSafeEqual } from 'node:crypto'

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'latin1').digest()
}

export function sameHash(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
