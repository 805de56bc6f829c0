// The line reader at its edges: lines that never end, and text that breaks off inside a character.

import { describe, expect, it } from 'vitest'
import { lineCharactersMax, cutLines } from '../../../build/parse/cut-lines.ts'
import { chunksOf, parsePieces, textsOf } from './drive.ts'
import { inForm } from '../../form.ts'

async function lines(pieces: readonly (string | Uint8Array)[]): Promise<readonly string[]> {
  const said: string[] = []
  const bytes = pieces.map((piece) =>
    typeof piece === 'string' ? new TextEncoder().encode(piece) : piece,
  )
  await cutLines(chunksOf(bytes), {
    line: (text, number) => said.push(`${number}:${text}`),
    tooLong: (number) => said.push(`${number}!`),
  })
  return said
}

describe('lines', () => {
  it.each([
    [[''], []],
    [['a'], ['1:a']],
    [['a\n'], ['1:a']],
    [['a\n\nb\r\n'], ['1:a', '2:', '3:b']],
    [
      ['a\r', '\nb'],
      ['1:a', '2:b'],
    ],
    [['a\rb\n'], ['1:a\rb']],
  ])('of %j', async (pieces, said) => {
    expect(await lines(pieces)).toEqual(said)
  })

  it('up to the limit are read, and one over it is not', async () => {
    const full = 'x'.repeat(lineCharactersMax)
    expect(await lines([`${full}\n${full}x\nb`])).toEqual([`1:${full}`, '2!', '3:b'])
  })

  it('that never end are not held', async () => {
    // In full more than the longest string passes: one holds at most 512 Mi characters, and 640 MiB
    // in one line would break it.
    const chunk = new Uint8Array(16 << 20).fill(0x37)
    const pieces = Array.from({ length: inForm({ short: 2, full: 40 }) }, () => chunk)
    expect(await lines([...pieces, '\nb\n'])).toEqual(['1!', '2:b'])
  })

  it('that break off inside a character do not pass for whole', async () => {
    const pieces = ['192.0.2.1\n192.0.2.2', Uint8Array.of(0xc3)]
    const said = await parsePieces('list', pieces)
    expect(textsOf(said)).toEqual(['192.0.2.1'])
    expect(said.drops).toHaveLength(1)
  })
})
