import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatKeyText, randomId, randomSecret } from '../../../src/account/keys/key-text.ts'
import { isRequestId, createRequestIds } from '../../../src/http/exchange/request-id.ts'

const none = (): boolean => false

describe('isRequestId', () => {
  it('takes none that holds a key, or the secret of one', () => {
    const secret = randomSecret()
    const key = formatKeyText({ id: randomId(), secret })
    const isSecret = (text: string): boolean => text === secret
    const cut = [key.slice(0, 20), key.slice(4), key.slice(17), secret, `a.${secret}`]
    const changed = [key.toUpperCase(), key.toLowerCase(), key.slice(4).toLowerCase()]
    for (const id of [key, `a-${key}`, ...cut, ...changed, key.slice(4).replace('_', '-')]) {
      expect([id, isRequestId(id, isSecret)]).toEqual([id, false])
    }
    // As far as the two can say, these are nobody's.
    for (const id of [key.slice(17, 40), key.slice(4, 16), randomSecret()]) {
      expect([id, isRequestId(id, isSecret)]).toEqual([id, true])
    }
  })

  it('says what the contract says', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 70 }),
      fc.stringMatching(/^[A-Za-z0-9._-]{0,70}$/),
    )
    fc.assert(
      fc.property(text, (id) => {
        expect(isRequestId(id, none)).toBe(/^[A-Za-z0-9._-]{1,64}$/.test(id) && !id.endsWith('\n'))
      }),
    )
  })
})

describe('requestIds', () => {
  it('makes ids that are fit, and never the same', () => {
    const [first, second] = [createRequestIds(), createRequestIds()]
    const ids = Array.from({ length: 5000 }, (_, i) => {
      const ids = i % 2 === 0 ? first : second
      return ids.text(ids.next())
    })
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(isRequestId(id, none)).toBe(true)
  })
})
