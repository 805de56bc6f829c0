// How secrets are hashed and compared. Plain SHA-256: slow hashes protect guessable secrets, and
// ours have 190 random bits.

import { createHash, timingSafeEqual } from 'node:crypto'

export const hashSecret = (secret: string): Buffer =>
  createHash('sha256').update(secret, 'latin1').digest()

export const sameHash = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right)
