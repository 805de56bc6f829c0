// The small table with the ranges of a crawler, under the id of the feed that holds them.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleTable } from '../../build/assemble-table.ts'
import { writeTable } from '../../build/write/write-table.ts'
import { listed, smallParts } from '../table/small-table.ts'

/** Googlebot is at 9.50.0.0/24. */
export function tableWithCrawler(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-agents-')), 'small.iprisk')
  const parts = smallParts([...listed, ['9.50.0.0/24', 'bot', 'Googlebot']])
  const [feed, ...others] = parts.sources
  const sources = [{ ...feed!, id: 'bot-googlebot' }, ...others]
  writeTable(path, assembleTable({ ...parts, sources }).content)
  return path
}
