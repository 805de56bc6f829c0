// A table whose answers would be long is refused, though its checksums fit.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reasonListMax, runElementWords } from '../../../../src/schema/table-layout.ts'
import { tableTextBytesMax } from '../../../../src/base/limits.ts'
import { reasonTexts } from '../../../../src/score/points/reason-codes.ts'
import { verifyTable, tableRunBytesMax } from '../../../../src/table/file/verify/verify-table.ts'
import { type Forgery, writeForgedTable } from '../../forged-table.ts'
import { smallContent } from '../../small-table.ts'
import { encodedTable } from '../../encoded-table.ts'

const most = 'ä'.repeat(tableTextBytesMax / 2)
const forged = (forgery: Forgery) => () => verifyTable(writeForgedTable(forgery))

function written(change: (content: ReturnType<typeof smallContent>) => object): string {
  const content = smallContent()
  const views = { ...content.views, ...change(content) }
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-bounds-')), 'table')
  writeFileSync(path, encodedTable({ ...content, views }).bytes)
  return path
}

describe('a table', () => {
  it('with texts as long as may be is not refused for them', () => {
    // Its runs say still what its texts said before they were forged.
    const string = (text: string): string => (Object.hasOwn(reasonTexts, text) ? text : most)
    const open = forged({ string, source: () => most })
    expect(open).not.toThrow(/more than any answer/)
  })

  it('with a longer text is refused', () => {
    const message = /section string_offsets at .*: a text has 65536 bytes, more than any answer has/
    expect(forged({ string: () => 'x'.repeat(65_536) })).toThrow(message)
    expect(forged({ string: () => `${most}x` })).toThrow(/section string_offsets .* 481 bytes/)
  })

  it('with a longer code of a reason is refused', () => {
    const code = (chars: number) => (text: string) =>
      Object.hasOwn(reasonTexts, text) ? 'x'.repeat(chars) : text
    expect(forged({ string: code(64) })).not.toThrow(/its code/)
    expect(forged({ string: code(65) })).toThrow(/section reasons .* its code has 65 bytes/)
  })

  it('with a longer text in its header is refused', () => {
    expect(forged({ source: () => `${most}x` })).toThrow(/section header .* of a source has 481/)
  })

  it('with a longer run is refused, whatever its strings are', () => {
    const path = written(({ views }) => {
      const runs = views.runs.slice()
      runs[views.location_runs[0]! * runElementWords] = 70_000
      return { runs }
    })
    expect(() => verifyTable(path)).toThrow(/its run has 70000 bytes, more than any answer has/)
  })

  it('with a longer list of reasons is refused', () => {
    const path = written(({ views }) => {
      const more = new Uint32Array(reasonListMax + 1).fill(views.reasons[0] ?? 0)
      const reasons = Uint32Array.from([...views.reasons, ...more])
      const lists = views.reason_lists.slice()
      lists[lists.length - 1] = reasons.length
      return { reasons, reason_lists: lists }
    })
    expect(() => verifyTable(path)).toThrow(/section reason_lists .* a list has over 64 members/)
  })

  it('has room for every run that a build makes', () => {
    const place = { state: '"'.repeat(160), city: 'ä'.repeat(160), zip: '漢'.repeat(160) }
    const numbers = { latitude: -89.1234, longitude: -179.1234, timezone: '漢'.repeat(160) }
    const bytes = Buffer.byteLength(JSON.stringify({ ...place, ...numbers }))
    expect(bytes).toBeLessThan(tableRunBytesMax)
  })
})
