// A part of a published set as a text: of which format, family and page, and its name as a file.

import { type ListFormat, type MmdbLayoutName, mmdbLayoutNames } from '../config/export-formats.ts'
import type { ExportFile } from '../export/export-file.ts'
import { type PrefixFormat, openList } from '../export/list-formats.ts'
import type { Family } from '../ip/address.ts'
import type { OpenTable } from '../table/open-table.ts'
import { writeListDatabase } from './list-database.ts'
import { familyOf, setRecordWords } from './set-records.ts'

/** What of a set in which format; a page counts from 1. */
export interface ListPart {
  readonly format: ListFormat
  /** Of `mmdb`. */
  readonly layout: MmdbLayoutName | undefined
  readonly family: Family | undefined
  readonly page: number
  /** Prefixes; `Infinity` for all. */
  readonly pageSize: number
}

/** The name of its text: `plain_0_1_Infinity`, `nft_4_1_Infinity`, `mmdb_city_1_Infinity`. */
export const partName = ({ format, layout, family, page, pageSize }: ListPart): string =>
  [format, layout ?? family ?? 0, page, pageSize].join('_')

export function partNamed(name: string): ListPart {
  const [format, of, page, pageSize] = name.split('_')
  return {
    format: format as ListFormat,
    layout: mmdbLayoutNames.find((one) => one === of),
    family: ([4, 6] as const).find((one) => String(one) === of),
    page: Number(page),
    pageSize: Number(pageSize),
  }
}

/** nftables and ipset take names of 31 characters, with `-new` behind them. */
const familySet = (name: string, family: Family): string => `${name.slice(0, 24)}-${family}`

/** Where the records of IPv4 end, which come first. */
export function ipv4End(records: Uint32Array): number {
  let end = 0
  while (end < records.length && familyOf(records, end) === 4) end += setRecordWords
  return end
}

/** Writes a part of the set `name`; records of IPv4 come first. `table`: which it was made of. */
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
