// What the last lines of `iprisk start` take from a table.

import { afterAll, describe, expect, it } from 'vitest'
import { exampleFinding } from '../../../src/cli/server/first-request.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { writeTable } from '../../../build/write/write-table.ts'
import { listed, smallContent } from '../../table/small-table.ts'
import { newFolder } from '../program.ts'
import { join } from 'node:path'

const tables: OpenTable[] = []
afterAll(() => {
  for (const table of tables) table.close()
})

function tableWithout(...kinds: readonly string[]): OpenTable {
  const path = join(newFolder(), 'small.iprisk')
  writeTable(path, smallContent(listed.filter(([, kind]) => !kinds.includes(kind))))
  const table = openTable(path)
  tables.push(table)
  return table
}

describe('exampleFinding', () => {
  it.each([
    [[], 'tor'],
    [['tor'], 'vpn'],
    [['tor', 'vpn'], 'proxy'],
    [['tor', 'vpn', 'proxy'], undefined],
  ] as const)('in a table without %j it is %s, as the table answers', (without, classification) => {
    const table = tableWithout(...without)
    const found = exampleFinding(table)
    expect(found?.classification).toBe(classification)
    if (found === undefined) return
    expect(table.check(found.address)?.classification).toBe(classification)
  })
})
