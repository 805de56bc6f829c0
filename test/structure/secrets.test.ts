// Secrets are compared in one way: hashes, by timingSafeEqual, on equal lengths. Whoever compares
// what is named after a secret or a hash in another way anywhere in src is found by its name.

import { describe, expect, it } from 'vitest'
import { sourceFiles } from './source.ts'

const files = sourceFiles(['src']).map(({ path, text }) => ({ path, code: withoutComments(text) }))

function withoutComments(text: string): string {
  return text.replace(/^\s*\/\/.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '')
}

const word = String.raw`[\w.?!\[\]()]*(?:[hH]ash|[sS]ecret|[dD]igest|sha256|[pP]assword)[\w.?!\[\]()]*`
const comparison = new RegExp(
  [
    String.raw`${word}\s*(?:[!=]==?|<|>)\s*[^=\s>]+`,
    String.raw`[\w.'"\])]+\s*(?:[!=]==?|<|>)\s*${word}`,
    String.raw`${word}\.(?:equals|compare|localeCompare|startsWith|endsWith|includes|indexOf)\(`,
    String.raw`\.(?:equals|compare|localeCompare|includes|indexOf)\(${word}`,
    String.raw`(?:Buffer\.compare|isDeepStrictEqual|Object\.is)\(${word}`,
  ].join('|'),
  'g',
)

/** Comparisons that look at no secret: whether there is one, how many, when it ends. */
const harmless =
  /undefined|=== ''|\.length\b|(?:expiresAt|until|created_at|expires_at|createdAt)\b|typeof|'secrets'/

function comparisons(code: string): readonly string[] {
  return (code.match(comparison) ?? []).filter((found) => !harmless.test(found))
}

describe('secrets', () => {
  it('are compared nowhere but by the one function', () => {
    const found = files.flatMap(({ path, code }) => comparisons(code).map((it) => `${path}: ${it}`))
    expect(found).toEqual([])
  })

  it('are compared by timingSafeEqual, once, and only on equal lengths', () => {
    const users = files.filter(({ code }) => code.includes('timingSafeEqual'))
    expect(users.map(({ path }) => path)).toEqual(['src/account/keys/secret-hash.ts'])
    const calls = users[0]?.code.match(/[^\n]*timingSafeEqual\([^\n]*/g)
    expect(calls?.map((call) => call.trim())).toEqual([
      'left.length === right.length && timingSafeEqual(left, right)',
    ])
  })

  it('are judged by it where calls are let in, and where files of keys are', () => {
    const users = files.filter(({ code }) => /\bsameHash\(/.test(code)).map(({ path }) => path)
    expect(users.sort()).toEqual([
      'src/account/keyring.ts',
      'src/account/keys/key-transfer.ts',
      'src/admin/admin-caller.ts',
      'src/console/session-store.ts',
    ])
  })
})

describe('the test of secrets', () => {
  it.each([
    'if (secret.hash === other) return',
    'if (other === secret.hash) return',
    'return given !== record.secrets[0].hash',
    'hash.equals(other)',
    'known.includes(secret)',
    'Buffer.compare(hash, other)',
    'left.sha256 == right',
    'password < other',
  ])('sees %s', (code) => {
    expect(comparisons(code)).toHaveLength(1)
  })

  it.each([
    'secret === undefined',
    'secrets.length === 2',
    'secret.until <= now',
    'const found = secrets.map((secret) => secret.hash)',
    'sameHash(secret.hash, hash)',
  ])('lets %s be', (code) => {
    expect(comparisons(code)).toEqual([])
  })
})
