// Where a key is found in other text: in each form in which a reader of the text could still use
// it, and nowhere else.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatKeyText, randomId, randomSecret } from '../../src/account/keys/key-text.ts'
import { holdsKey, holdsSecret, redactKeys } from '../../src/base/key-form.ts'

const swapCase = (text: string): string =>
  text.replace(/[a-zA-Z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
const key = fc
  .constant(undefined)
  .map(() => ({ id: randomId(), secret: randomSecret() }))
  .map((parts) => ({ ...parts, text: formatKeyText(parts) }))

/** Each form of a key, from its text. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  whole: (text) => text,
  'in capitals': (text) => text.toUpperCase(),
  'in small letters': (text) => text.toLowerCase(),
  'with its cases swapped': swapCase,
  escaped: (text) => text.replaceAll('_', '%5F'),
  'escaped in small letters': (text) => text.replaceAll('_', '%5f'),
  'without its prefix': (text) => text.slice(4),
  'without its prefix, in capitals': (text) => text.slice(4).toUpperCase(),
  'without its prefix, escaped': (text) => text.slice(4).replace('_', '%5F'),
  'with other signs': (text) => text.slice(4).replace('_', '.'),
  'without signs': (text) => text.replaceAll('_', ''),
  'without prefix and signs': (text) => text.slice(4).replace('_', ''),
  'of a test key': (text) => text.replace('irk_', 'irkt_'),
}

describe.each(Object.entries(forms))('a key %s', (_name, form) => {
  it.each(['', 'a ', 'id=', '"', '/v1/', '.'])('is found behind %j, and cut off', (before) => {
    fc.assert(
      fc.property(key, ({ text, secret }) => {
        const written = `${before}${form(text)}`
        expect(holdsKey(written)).toBe(true)
        const kept = redactKeys(`${written} and more`)
        expect(kept.toLowerCase()).not.toContain(secret.toLowerCase())
        expect(kept).toContain('[redacted]')
        expect(kept).toMatch(/ and more$/)
      }),
      { numRuns: 20 },
    )
  })
})

describe('what is no key', () => {
  it.each([
    '550e8400-e29b-41d4-a716-446655440000',
    '4bf92f3577b34da6a3ce929d0e0e4736',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'order_12345_retry',
    'a'.repeat(64),
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  ])('%s stays', (text) => {
    expect(holdsKey(text)).toBe(false)
    expect(redactKeys(text)).toBe(text)
    expect(holdsSecret(text, () => false)).toBe(false)
  })

  it('is a key that was changed where only the checksum shows it', () => {
    fc.assert(
      fc.property(key, ({ text }) => {
        const last = text.at(-1) === 'a' ? 'b' : 'a'
        expect(holdsKey(`${text.slice(4, -1)}${last}`.replace('_', '-'))).toBe(false)
      }),
    )
  })
})

describe('a secret alone', () => {
  it('is found by look-up, with its checksum or without, between other signs or glued to letters', () => {
    fc.assert(
      fc.property(key, ({ secret, text }) => {
        const isSecret = (asked: string): boolean => asked === secret
        const tail = text.slice(17)
        for (const written of [
          secret,
          tail,
          `a-${secret}`,
          `${tail}_x`,
          `abc${secret}`,
          `abc${tail}`,
        ]) {
          expect([written, holdsSecret(written, isSecret)]).toEqual([written, true])
        }
        expect(holdsSecret(secret.slice(1), isSecret)).toBe(false)
      }),
      { numRuns: 50 },
    )
  })

  it('costs no look-up for the ids of traces', () => {
    const ask = (): boolean => {
      throw new Error('asked')
    }
    expect(holdsSecret('4bf92f3577b34da6a3ce929d0e0e4736', ask)).toBe(false)
    expect(holdsSecret('4BF92F3577B34DA6A3CE929D0E0E4736', ask)).toBe(false)
  })
})
