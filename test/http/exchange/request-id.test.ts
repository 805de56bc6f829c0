import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatKeyText, randomId, randomSecret } from '../../../src/account/keys/key-text.ts'
import { isRequestId, createRequestIds } from '../../../src/http/exchange/request-id.ts'

describe('isRequestId', () => {
  it('takes none that holds a key', () => {
    const key = formatKeyText({ id: randomId(), secret: randomSecret() })
    for (const id of [key, `a-${key}`, key.slice(0, 20)]) expect(isRequestId(id)).toBe(false)
    expect(isRequestId(key.slice(4))).toBe(true)
  })

  it('says what the contract says', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 70 }),
      fc.stringMatching(/^[A-Za-z0-9._-]{0,70}$/),
    )
    fc.assert(
      fc.property(text, (id) => {
        expect(isRequestId(id)).toBe(/^[A-Za-z0-9._-]{1,64}$/.test(id) && !id.endsWith('\n'))
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
    for (const id of ids) expect(isRequestId(id)).toBe(true)
  })
})
