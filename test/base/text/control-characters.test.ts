// What steers a terminal is shown or gone, whatever the text; everything else stays as it is.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeControls, escapeLines, foldControls } from '../../../src/base/text/clean-text.ts'
import { hostile, steering } from '../../cli/terminal/steering.ts'

const any = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...Array.from(hostile))),
})
const found = (text: string): readonly string[] => text.match(steering) ?? []

describe('control characters', () => {
  it('are shown, and a JSON text says the same', () => {
    fc.assert(
      fc.property(any, (text) => {
        expect(found(escapeControls(text))).toEqual([])
        const json = escapeControls(JSON.stringify({ [text]: text }))
        expect(JSON.parse(json)).toEqual({ [text]: text })
        expect(new Set(found(escapeLines(text)))).toEqual(new Set(text.match(/\n/g)))
      }),
    )
  })

  it('go from texts of the table, and a second time changes nothing', () => {
    fc.assert(
      fc.property(any, (text) => {
        const clean = foldControls(text)
        expect(found(clean)).toEqual([])
        expect(foldControls(clean)).toBe(clean)
      }),
    )
  })

  it.each([
    ['São Paulo, Österreich, 東京, تهران', 'as it is'],
    ['می\u200Cخواهم', 'with a joiner'],
    ['👩\u200D💻', 'with a pair and a joiner'],
  ])('%s is text: %s', (text) => {
    expect(escapeControls(text)).toBe(text)
    expect(foldControls(text)).toBe(text)
  })

  it.each([
    ['a\tb\u00A0\u2028 \r\nc', 'a b c', 'a\\u0009b\u00A0\\u2028 \\u000d\\u000ac'],
    ['\u202Egnp.exe', 'gnp.exe', '\\u202egnp.exe'],
    ['\uD83D half', '\uFFFD half', '\\ud83d half'],
    ['tag\u{E0041}', 'tag', 'tag\\udb40\\udc41'],
  ])('%j', (text, folded, escaped) => {
    expect(foldControls(text)).toBe(folded)
    expect(escapeControls(text)).toBe(escaped)
  })
})
