// Hot within the build: rows of a CSV or TSV file of address ranges, plain or packed, by bytes.
// Which addresses a row means:
//
//   first,last,…                    DB-IP, @ip-location-db, IPtoASN (TSV), IPinfo of old
//   prefix,…   first-last,…   address,…                MaxMind, IPinfo Lite
//
// A first row without an address is the header and names the columns, in any order; otherwise
// positions do. Comment lines may precede. Bad rows are counted and named, never fatal.

import { createReadStream } from 'node:fs'
import { environmentError, IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { openRegularFile } from '../../src/base/system/bounded-file.ts'
import { unpackText } from '../../src/base/text/unpack-text.ts'
import { type Family, compareWords, newAddressWords } from '../../src/ip/address.ts'
import { parseAddressBytes } from '../../src/ip/parse-address.ts'
import { COMMA, type CsvFields, fieldsMax, newCsvFields, readCsvFields } from './csv-fields.ts'

const chunkBytes = 1 << 20
const SLASH = 0x2f
const DASH = 0x2d
const TAB = 0x09
const LF = 0x0a
const HASH = 0x23

/** Other files are MMDB. */
export const rangeRowsName = /\.[ct]sv(?:\.(?:gz|zst|br))?$/i

/** Words, bytes and fields belong to the reader. */
export interface RangeRow {
  family: Family
  readonly first: Uint32Array
  readonly last: Uint32Array
  bytes: Uint8Array
  readonly fields: CsvFields
}

export interface RowTaker {
  /** Names of the columns after the range, for files without a header. */
  readonly unnamed: (count: number, isTsv: boolean) => readonly string[]
  /** Before the first row; columns of the range are ''. */
  readonly columns: (names: readonly string[]) => void
  /** Returns what is wrong with the row, a short stable phrase. */
  readonly row: (row: RangeRow) => string | undefined
  readonly problem: (place: string, problem: string) => void
}

/** Throws `ranges_unreadable`, and `IpriskError`s of the taker. */
export async function readRangeFile(path: string, taker: RowTaker): Promise<void> {
  try {
    const chunks = createReadStream(path, { fd: openRegularFile(path), highWaterMark: chunkBytes })
    await readRangeRows({ chunks, path, taker })
  } catch (cause) {
    if (cause instanceof IpriskError) throw cause
    const message = `${path}: ${messageOf(cause)}. Check the path and its permissions.`
    throw environmentError('ranges_unreadable', message, { cause })
  }
}

/** `path` is only for problems. */
export async function readRangeRows(options: {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly path: string
  readonly taker: RowTaker
}): Promise<void> {
  const { path, taker } = options
  const fields = newCsvFields()
  const take = newRowReader(path, fields, taker)
  const warn = (reason: string): never => {
    throw new Error(reason)
  }
  /** Returns where the first unfinished row begins. */
  const readAll = (bytes: Uint8Array, final: boolean): number => {
    const to = bytes.length
    let from = 0
    while (from < to) {
      const next = readCsvFields({ bytes, from, to, final, row: fields })
      if (next < 0) break
      take(bytes)
      from = next
    }
    return from
  }
  let rest: Uint8Array = new Uint8Array(0)
  let begun = false
  for await (const chunk of unpackText(options.chunks, { name: path, warn })) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const head = begun ? 0 : headOf(bytes)
    const end = begun ? 0 : bytes.indexOf(LF, head)
    if (end >= 0 && !begun) {
      begun = true
      fields.separator = bytes.subarray(head, end).includes(TAB) ? TAB : COMMA
    }
    rest = begun ? bytes.subarray(readAll(bytes, false)) : bytes
  }
  if (!begun && rest.subarray(headOf(rest)).includes(TAB)) fields.separator = TAB
  readAll(rest, true)
}

/** Where the first line that is not a comment begins. */
function headOf(bytes: Uint8Array): number {
  let at = 0
  while (bytes[at] === HASH) {
    const end = bytes.indexOf(LF, at)
    if (end < 0) return bytes.length
    at = end + 1
  }
  return at
}

const firstNames =
  /^(?:network|prefix|cidr|subnet|route|(?:ip_?)?range|ip(?:v[46])?(?:_?(?:prefix|network|address))?|(?:ip_?)?(?:range_?)?(?:start|first|from)(?:_?(?:ip|address))?)$/
const lastNames = /^(?:ip_?)?(?:range_?)?(?:end|last|to)(?:_?(?:ip|address))?$/

function newRowReader(
  path: string,
  fields: CsvFields,
  taker: RowTaker,
): (bytes: Uint8Array) => void {
  const { starts, ends } = fields
  const [first, last] = [newAddressWords(), newAddressWords()]
  const row: RangeRow = { family: 4, first, last, bytes: new Uint8Array(0), fields }
  let line = 1
  let isHead = true
  let firstAt = 0
  /** The column of the last address, or -1. */
  let lastAt: number | undefined

  const name = (names: readonly string[]): void => {
    firstAt = firstNames.test(names[0]!)
      ? 0
      : Math.max(
          0,
          names.findIndex((one) => firstNames.test(one)),
        )
    lastAt = names.findIndex((one, at) => at > 0 && at !== firstAt && lastNames.test(one))
    taker.columns(names.map((one, at) => (at === firstAt || at === lastAt ? '' : one)))
  }
  const nameByPlace = (bytes: Uint8Array): void => {
    lastAt = parseAddressBytes(bytes, starts[1]!, ends[1]!, last) === 0 ? -1 : 1
    const range = lastAt === 1 ? ['', ''] : ['']
    const count = fields.fieldCount - range.length
    taker.columns([...range, ...taker.unnamed(count, fields.separator === TAB)])
  }

  const read = (bytes: Uint8Array): string | undefined => {
    if (isHead && bytes[starts[0]!] === HASH) return undefined
    if (fields.fieldCount === 1 && ends[0] === starts[0]) return undefined
    const canBeHeader = isHead
    isHead = false
    if (fields.broken) return 'broken quotes'
    const [start, end] = [starts[firstAt]!, ends[firstAt]!]
    if (fields.fieldCount < Math.max(2, firstAt + 1, (lastAt ?? 0) + 1)) return 'too few fields'
    let mark = start
    while (mark < end && bytes[mark] !== SLASH && bytes[mark] !== DASH) mark++
    const family = parseAddressBytes(bytes, start, mark, first)
    if (family === 0) {
      if (!canBeHeader) return 'no address'
      name(fieldTexts(bytes, fields).map((text) => text.trim().toLowerCase()))
      return undefined
    }
    if (lastAt === undefined) nameByPlace(bytes)
    if (bytes[mark] === SLASH && mark < end) {
      const length = readNumber(bytes, mark + 1, end)
      if (!maskPrefix({ family, length, first, last })) return 'no prefix length'
    } else if (mark < end || lastAt! >= 0) {
      const [from, to] = mark < end ? [mark + 1, end] : [starts[lastAt!]!, ends[lastAt!]!]
      if (parseAddressBytes(bytes, from, to, last) !== family) return 'no last address'
      if (compareWords(first, 0, last, 0, family === 4 ? 1 : 4) > 0)
        return 'first address after last'
    } else {
      last.set(first)
    }
    row.family = family
    row.bytes = bytes
    return taker.row(row)
  }

  return (bytes) => {
    const problem = read(bytes)
    if (problem !== undefined) taker.problem(`${path}:${line}`, problem)
    line += fields.lineCount
  }
}

const decoder = new TextDecoder()

export function fieldTexts(bytes: Uint8Array, row: CsvFields): readonly string[] {
  const length = Math.min(row.fieldCount, fieldsMax)
  return Array.from({ length }, (_, at) => fieldText(bytes, row, at))
}

export function fieldText(bytes: Uint8Array, row: CsvFields, at: number): string {
  const text = decoder.decode(bytes.subarray(row.starts[at], row.ends[at]))
  return row.doubled[at] === 1 ? text.replaceAll('""', '"') : text
}

export function readNumber(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start || end - start > 10) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** In place; false if the family has no such length. */
function maskPrefix(options: {
  readonly family: Family
  readonly length: number
  readonly first: Uint32Array
  readonly last: Uint32Array
}): boolean {
  const { family, length, first, last } = options
  if (length < 0 || length > (family === 4 ? 32 : 128)) return false
  for (let word = 0; word < first.length; word++) {
    const hostBits = Math.min(Math.max(32 * (word + 1) - length, 0), 32)
    // A shift by 32 is a shift by 0.
    const host = hostBits === 32 ? 0xffff_ffff : (1 << hostBits) - 1
    const unused = family === 4 && word > 0
    first[word] = unused ? 0 : first[word]! & ~host
    last[word] = unused ? 0 : first[word]! | host
  }
  return true
}
