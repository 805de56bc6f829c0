// Hashes of secrets, and that they are compared in one place only.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { hashSecret, sameHash } from '../../../src/account/keys/secret-hash.ts'

const source = fileURLToPath(new URL('../../../src', import.meta.url))

it('is SHA-256', () => {
  // The second test vector of FIPS 180-2, in text that a secret could be: "abc".
  expect(hashSecret('abc').toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

it('tells equal from unequal, and never throws for a hash of another length', () => {
  expect(sameHash(hashSecret('a'), hashSecret('a'))).toBe(true)
  expect(sameHash(hashSecret('a'), hashSecret('b'))).toBe(false)
  expect(sameHash(hashSecret('a'), Buffer.alloc(0))).toBe(false)
})

it('is the one place in src that compares in constant time', () => {
  const calls = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(join(source, name), 'utf8')
      return (text.match(/timingSafeEqual\(/g) ?? []).map(() => name)
    })
  expect(calls).toEqual([join('account', 'keys', 'secret-hash.ts')])
})
