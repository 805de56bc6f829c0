// The body of a check: the scan of its bytes against JSON.parse, its slow twin, and the scan taken
// where it should be.

import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { newRandom } from '../../../bench/harness/random.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import {
  parseCheckBody,
  findShortForm,
  parseIpWithJson,
  queryText,
} from '../../../src/http/endpoint/check-body.ts'
import { newQuery } from '../../../src/table/lookup/query.ts'
import { inForm } from '../../form.ts'

const query = newQuery()
const words = newAddressWords()

/** Whether scan and twin agree: on the text where both see one, and on the address. */
function same(body: Buffer): boolean {
  const plain = parseIpWithJson(body)
  const from = findShortForm(body)
  if (from >= 0 && plain !== body.toString('latin1', from, body.indexOf('"', from))) return false
  const family = plain === undefined ? 0 : parseAddress(plain, words)
  if (parseCheckBody(query, body) !== (family !== 0)) return false
  if (family === 0) return true
  return (
    query.family === family && queryText(query) === plain && query.words.join() === words.join()
  )
}

const right = [
  '{"ip":"1.2.3.4"}',
  '{"ip": "2001:db8::1"}',
  ' { "ip" : "2001:DB8:0:0:0:0:0:1" } ',
  '{"ip":"::ffff:203.0.113.7"}\n',
  '{"ip":"1.2.3.4","other":[1,{"ip":2}]}',
  '{"a":"b","ip":"9.9.9.9"}',
  '{"ip":"x","ip":"8.8.8.8"}',
  String.raw`{"ip":"1\u002e2.3.4"}`,
  String.raw`{"\u0069p":"1.2.3.4"}`,
].map((text) => Buffer.from(text))

const alphabet = Buffer.from('{}"ip:,. \n\t\r\f\\0123456789abcdefABCDEFu[]-\0\u007fé', 'utf8')

const bodies = inForm({ short: 20_000, full: 100_000, long: 250_000 })

describe('askBody', () => {
  it('says what JSON.parse says of any JSON', () => {
    const property = fc.property(fc.json(), (text) => same(Buffer.from(text)))
    expect(fc.check(property).counterexample).toBeNull()
  })

  it(`says what JSON.parse says of ${bodies} bodies that are nearly right`, () => {
    const random = newRandom(5)
    const wrong: string[] = []
    let addresses = 0
    for (let run = 0; run < bodies; run++) {
      const body = mutated(right[random.below(right.length)]!)
      if (!same(body)) wrong.push(body.toString('latin1'))
      if (query.family !== 0) addresses += 1
    }
    expect(wrong).toEqual([])
    // Else the test would only have seen refusals.
    expect(addresses).toBeGreaterThan(bodies / 5)

    /** One to three bytes replaced, put in or taken out; now and then none. */
    function mutated(body: Buffer): Buffer {
      const bytes = [...body]
      for (let count = random.below(4); count > 0; count--) {
        const at = random.below(bytes.length)
        const byte =
          random.below(8) === 0 ? random.below(256) : alphabet[random.below(alphabet.length)]!
        const change = random.below(3)
        if (change === 0) bytes[at] = byte
        else if (change === 1) bytes.splice(at, 0, byte)
        else bytes.splice(at, 1)
      }
      return Buffer.from(bytes)
    }
  })

  it('says what JSON.parse says of a right body with one byte changed', () => {
    const wrong: string[] = []
    for (const original of right) {
      for (let at = 0; at < original.length; at += 1) {
        for (let byte = 0; byte < 256; byte += 1) {
          const body = Buffer.from(original)
          body[at] = byte
          if (!same(body)) wrong.push(body.toString('latin1'))
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('says what JSON.parse says of any bytes', () => {
    const property = fc.property(fc.uint8Array(), (bytes) => same(Buffer.from(bytes)))
    expect(fc.check(property).counterexample).toBeNull()
  })

  it.each(['{"ip":"1.2.3.4"}', ' {\t"ip"\r:\n"::1" } '])('reads %j without JSON.parse', (text) => {
    const parse = vi.spyOn(JSON, 'parse')
    const isAddress = parseCheckBody(query, Buffer.from(text))
    const calls = parse.mock.calls.length
    parse.mockRestore()
    expect(isAddress).toBe(true)
    expect(queryText(query)).toBe(JSON.parse(text).ip)
    expect(calls).toBe(0)
  })

  it.each(['{"ip":""}', '{"ip":"1.2.3"}', `{"ip":"${'1'.repeat(100)}"}`, '{"ip":"é"}', '{}', ''])(
    'finds no address in %j',
    (text) => {
      expect(parseCheckBody(query, Buffer.from(text))).toBe(false)
    },
  )
})
