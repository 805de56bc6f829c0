// Writes a part of a published set, by format, family and page, as text.

import type { ExportFile } from '../export/export-file.ts'
import { type PrefixFormat, openList } from '../export/list-formats.ts'
import type { Family } from '../ip/address.ts'
import type { OpenTable } from '../table/open-table.ts'
import { writeListDatabase } from './list-database.ts'
import type { ListPart } from './set-folder.ts'
import { familyOf, ipv4End, setRecordWords } from './set-records.ts'

/** nftables and ipset allow names of 31 characters, including `-new`. */
const familySet = (name: string, family: Family): string => `${name.slice(0, 24)}-${family}`

/** Writes a part of the set `name`; records of IPv4 come first. `table` is the one it was made
 * from. */
export function writeList(
  file: ExportFile,
  records: Uint32Array,
  how: { readonly name: string; readonly part: ListPart; readonly table: OpenTable },
): void {
  const { name, part, table } = how
  const { layout, family, page, pageSize } = part
  if (layout !== undefined) return writeListDatabase(file, records, { name, layout, table })
  const split = ipv4End(records)
  const of = records.subarray(family === 6 ? split : 0, family === 4 ? split : undefined)
  const from = pageSize === Infinity ? 0 : (page - 1) * pageSize * setRecordWords
  const end = Math.min(of.length, from + pageSize * setRecordWords)
  const list = openList(file, part.format as PrefixFormat, {
    name,
    setOf: (one) => familySet(name, one),
    families: family === undefined ? [4, 6] : [family],
  })
  for (let at = from; at < end; at += setRecordWords) {
    const own = familyOf(of, at)
    const length = (of[at + 4]! >>> 16) - (own === 4 ? 96 : 0)
    list.add({ family: own, address: of.subarray(at, at + 4), length })
  }
  list.end()
}
