// The limits of a file of entries, each at its exact value.

import { describe, expect, it } from 'vitest'
import type { IpriskError } from '../../src/base/coded-error.ts'
import { noteBytesMax } from '../../src/lists/list-limits.ts'
import { checkListFile, readListFile } from '../../src/lists/import/read-list-file.ts'

const read = (text: string) => {
  const file = readListFile(text, 1_999, 'file')
  checkListFile(file, { strict: true })
  return file.lists.get('')?.entries
}
const linesOf = (text: string): readonly string[] => {
  try {
    read(text)
  } catch (error) {
    return (error as IpriskError).lines
  }
  throw new Error('it was not refused')
}

describe('a file of entries', () => {
  it('tells ten mistakes, and how many more there are', () => {
    const bad = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join('\n')
    expect(linesOf(bad(10))).toHaveLength(11)
    expect(linesOf(bad(10)).at(-1)).toMatch(/^ {2}file:10: "x9": /)
    expect(linesOf(bad(11)).slice(-2)).toEqual([
      expect.stringMatching(/^ {2}file:10: "x9": /),
      '  and 1 more',
    ])
  })

  it('quotes 80 characters of a line', () => {
    expect(linesOf('x'.repeat(80))[1]).toContain(`"${'x'.repeat(80)}"`)
    expect(linesOf('x'.repeat(81))[1]).toContain(`"${'x'.repeat(80)}"`)
  })

  it('has entries that expire from the first second on, for 0 stands for never', () => {
    expect(read('192.0.2.1 1970-01-01T00:00:01Z')).toMatchObject([{ expires: 1, added: 1 }])
    expect(linesOf('192.0.2.1 1970-01-01T00:00:00.999Z')[1]).toContain('is not a time')
  })

  it('has notes of the longest length, and a line of up to three parts', () => {
    const note = 'ä'.repeat(noteBytesMax / 2)
    expect(read(`192.0.2.1 # ${note}`)).toMatchObject([{ note }])
    expect(linesOf(`192.0.2.1 # ${note}x`)[1]).toContain(`at most ${noteBytesMax} bytes`)
    expect(linesOf('192.0.2.1 2026-12-01T00:00:00Z more # note')[1]).toContain('only an expiry')
  })

  it('has lists by name and effect in lines of JSON, and no other member', () => {
    const entry = { list: 'office', effect: 'allow', entry: '192.0.2.1', note: 'x' }
    const { lists } = readListFile(JSON.stringify(entry), 1_999, 'file')
    expect(lists.get('office')).toMatchObject({ effect: 'allow', entries: [{ note: 'x' }] })
    expect(linesOf(JSON.stringify({ ...entry, effects: 'allow' }))[1]).toContain('effects')
  })

  it('has a mark at its very beginning as a comment', () => {
    expect(read('#192.0.2.1\n192.0.2.2#x')).toMatchObject([{ note: 'x' }])
  })
})
