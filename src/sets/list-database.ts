// A published set as an MMDB (contract 6.3: published sets): only its addresses, with the table's
// facts about them in a layout. Addresses without facts in the layout get an empty map, so that a
// reader recognizes the set.

import type { MmdbLayoutName } from '../config/export-formats.ts'
import type { ExportFile } from '../export/export-file.ts'
import { newExportValues } from '../export/export-values.ts'
import { lastAddress } from '../export/list-formats.ts'
import { newDatabaseWriter } from '../export/mmdb-export.ts'
import { databaseLayout } from '../export/mmdb-records.ts'
import { partTexts } from '../export/run-export.ts'
import { type RunSink, walkRuns } from '../export/value-runs.ts'
import { compareWords, newAddressWords } from '../ip/address.ts'
import type { OpenTable } from '../table/open-table.ts'
import { familyOf, setRecordWords } from './set-records.ts'

export function writeListDatabase(
  file: ExportFile,
  records: Uint32Array,
  of: { readonly name: string; readonly layout: MmdbLayoutName; readonly table: OpenTable },
): void {
  const { name, table } = of
  const { reader, asOf } = table
  const layout = databaseLayout(of.layout, undefined)
  const texts = partTexts(layout.members, true)
  const book = newExportValues(reader, { texts, keepEmpty: true })
  const writer = newDatabaseWriter(layout, book)
  walkRuns(reader.views, book.valueOf, { run: within(records, writer.run) })
  writer.finish(file, { description: `iprisk ${table.id}: the set ${name}`, asOf })
}

/** Passes on the part of each range that is in the set. Both are sorted, IPv4 first. */
export function within(records: Uint32Array, run: RunSink['run']): RunSink['run'] {
  const end = newAddressWords()
  let at = 0
  return (first, last, value, family) => {
    for (; at < records.length; at += setRecordWords) {
      const own = familyOf(records, at)
      if (own > family) return
      const start = records.subarray(at, at + 4)
      lastAddress(start, records[at + 4]! >>> 16, end)
      if (own < family || compareWords(end, 0, first, 0, 4) < 0) continue
      if (compareWords(start, 0, last, 0, 4) > 0) return
      const isLonger = compareWords(end, 0, last, 0, 4) > 0
      const from = compareWords(start, 0, first, 0, 4) < 0 ? first : start
      run(from, isLonger ? last : end, value, family)
      if (isLonger) return
    }
  }
}
