// What becomes of a table that its own verification refuses.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeTable } from '../../../build/write/write-table.ts'
import { newState } from '../../serve/server.ts'
import { smallContent } from '../../table/small-table.ts'

it('a table that does not verify is called the fault of inputs and not of a disk', () => {
  const folder = newState()
  const path = join(folder, 'world.iprisk')
  writeFileSync(path, 'live')
  const content = smallContent()
  const [source] = content.sources
  const sources = [{ ...source!, provider: 'x'.repeat(100_000) }, ...content.sources.slice(1)]
  expect(() => writeTable(path, { ...content, sources })).toThrow(
    expect.objectContaining({
      code: 'table_refused',
      message: expect.stringMatching(
        /^The compiled table .* it does not hold in section header .*: a text of a source .* report it\.$/,
      ),
    }),
  )
  expect(() => writeTable(path, { ...content, sources })).not.toThrow(/Build the table again|tmp/)
  expect(readdirSync(folder)).toEqual(['world.iprisk'])
  expect(readFileSync(path, 'utf8')).toBe('live')
})
