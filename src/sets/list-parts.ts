// A part of a published set as a text: of which format, family and page, and its name as a file.

import { type MmdbLayoutName, mmdbLayoutNames } from '../config/export-formats.ts'
import type { ExportFile } from '../export/export-file.ts'
import { type ListFormat, type PrefixFormat, openList } from '../export/list-formats.ts'
import type { Family } from '../ip/address.ts'
import { setRecordWords } from './set-records.ts'

/** What of a set in which format; a page counts from 1. */
export interface ListPart {
  readonly format: ListFormat
  /** Of `mmdb`. */
  readonly layout?: MmdbLayoutName
  readonly family: Family | undefined
  readonly page: number
  /** Prefixes; `Infinity` for all. */
  readonly pageSize: number
}

/**
 * The name of its text: `plain`, `nft-4`, `plain-6-2-50000`; 0 for what is not chosen. An MMDB has no
 * parts: `mmdb.city`.
 */
export function partName({ format, layout, family, page, pageSize }: ListPart): string {
  if (format === 'mmdb') return `${format}.${layout}`
  const pages = pageSize === Infinity ? '' : `-${page}-${pageSize}`
  return `${format}${family === undefined && pages === '' ? '' : `-${family ?? 0}`}${pages}`
}

const allOf = { family: undefined, page: 1, pageSize: Infinity } as const

export function partNamed(name: string): ListPart {
  const layout = mmdbLayoutNames.find((one) => name === `mmdb.${one}`)
  if (layout !== undefined) return { format: 'mmdb', layout, ...allOf }
  const [format = '', family = '0', page = '1', pageSize = 'Infinity'] = name.split('-')
  return {
    format: format as ListFormat,
    family: family === '4' ? 4 : family === '6' ? 6 : undefined,
    page: Number(page),
    pageSize: Number(pageSize),
  }
}

export const familyOf = (records: Uint32Array, at: number): Family =>
  (records[at]! | records[at + 1]! | records[at + 2]!) === 0 ? 4 : 6

/** nftables and ipset take names of 31 characters, with `-new` behind them. */
const familySet = (name: string, family: Family): string => `${name.slice(0, 24)}-${family}`

/** Writes a part of the set `name`; records of IPv4 come first. MMDB is of list-database.ts. */
export function writeList(
  file: ExportFile,
  records: Uint32Array,
  { name, part }: { readonly name: string; readonly part: ListPart },
): void {
  const { family, page, pageSize } = part
  let ipv4End = 0
  while (ipv4End < records.length && familyOf(records, ipv4End) === 4) ipv4End += setRecordWords
  const of = records.subarray(family === 6 ? ipv4End : 0, family === 4 ? ipv4End : undefined)
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
