// The body of a check: the short form against JSON.parse, its slow twin, and the short form taken
// where it should be.

import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { readIp, readIpPlainly } from '../../src/server/body.ts'

const same = (body: Buffer): boolean => readIp(body) === readIpPlainly(body)

describe('readIp', () => {
  it('says what JSON.parse says of any JSON', () => {
    const property = fc.property(fc.json(), (text) => same(Buffer.from(text)))
    expect(fc.check(property).counterexample).toBeNull()
  })

  it('says what JSON.parse says of bodies that are nearly right', () => {
    const pieces = [
      ['{', '}', '"', 'ip', '"ip"', ':', ',', ' ', '\n', '\t', '\r', '\f', '\\', '\\u0031'],
      ['"1.2.3.4"', '{"ip":"', '"}', '"ip":', 'é', '\0', '[', ']', 'null', '\u007f', '\u2028'],
    ].flat()
    const piece = fc.constantFrom(...pieces)
    const body = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')))
    const { counterexample } = fc.check(fc.property(body, same), { numRuns: 20_000 })
    expect(counterexample).toBeNull()
  })

  it('says what JSON.parse says of a right body with one byte changed', () => {
    const right = Buffer.from(' { "ip" : "2001:db8::1" } ')
    for (let at = 0; at < right.length; at += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const body = Buffer.from(right)
        body[at] = byte
        expect(same(body)).toBe(true)
      }
    }
  })

  it('says what JSON.parse says of any bytes', () => {
    const property = fc.property(fc.uint8Array(), (bytes) => same(Buffer.from(bytes)))
    expect(fc.check(property).counterexample).toBeNull()
  })

  it.each(['{"ip":"1.2.3.4"}', ' {\t"ip"\r:\n"::1" } ', '{"ip":""}'])(
    'reads %j without JSON.parse',
    (text) => {
      const parse = vi.spyOn(JSON, 'parse')
      const ip = readIp(Buffer.from(text))
      const calls = parse.mock.calls.length
      parse.mockRestore()
      expect(ip).toBe(JSON.parse(text).ip)
      expect(calls).toBe(0)
    },
  )
})
