// Hot within the build: a CSV file of AS ranges, by bytes. Layouts, told apart by their fields:
//
//   first,last,asn,organization     @ip-location-db/asn, IPtoASN-like files
//   prefix,asn,organization         GeoLite2-ASN-Blocks
//
// A first row whose first field is no address is the header. The ASN may be written `AS123`. A row
// of ASN 0 says that no AS announces the range: it is left out and is no fault. Bad rows are
// counted and named, never fatal: one of them must not cost the other 400,000.

import { createReadStream } from 'node:fs'
import { messageOf, environmentError } from '../../src/base/coded-error.ts'
import { openRegularFile } from '../../src/base/system/bounded-file.ts'
import { byteOrderMarkBytes, withoutByteOrderMark } from '../../src/base/text/byte-order-mark.ts'
import { compareWords, newAddressWords } from '../../src/ip/address.ts'
import { parseAddressBytes } from '../../src/ip/parse-address.ts'
import { maskPrefix, type RangeSink } from './collect-ranges.ts'
import { newCsvFields, readCsvFields, type CsvFields } from './csv-fields.ts'

const chunkBytes = 1 << 20
const SLASH = 0x2f

/** Reads a file into `sink`. Error: `ranges_unreadable`. */
export async function readRangeCsv(path: string, sink: RangeSink): Promise<void> {
  try {
    const chunks = createReadStream(path, { fd: openRegularFile(path), highWaterMark: chunkBytes })
    await readRangeRows({ chunks, path, sink })
  } catch (error) {
    throw environmentError(
      'ranges_unreadable',
      `${path}: ${messageOf(error)}. Check the path and its permissions.`,
      { cause: error },
    )
  }
}

/** The same for bytes from anywhere; `path` is what problems call them. */
export async function readRangeRows(options: {
  readonly chunks: AsyncIterable<Uint8Array>
  readonly path: string
  readonly sink: RangeSink
}): Promise<void> {
  const { path, sink } = options
  const take = newRowTaker(path, sink)
  const row = newCsvFields()
  /** Where the first row begins that has no end yet. */
  const readAll = (bytes: Uint8Array, final: boolean): number => {
    const to = bytes.length
    let from = 0
    while (from < to) {
      const next = readCsvFields({ bytes, from, to, final, row })
      if (next < 0) break
      take(bytes, row)
      from = next
    }
    return from
  }
  let rest: Uint8Array = new Uint8Array(0)
  let begun = false
  for await (const chunk of options.chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    // A first row that is no header would be lost with the mark.
    if (!begun && bytes.length >= byteOrderMarkBytes) {
      begun = true
      bytes = withoutByteOrderMark(bytes)
    }
    rest = bytes.subarray(readAll(bytes, false))
  }
  readAll(rest, true)
}

function newRowTaker(path: string, sink: RangeSink): (bytes: Uint8Array, row: CsvFields) => void {
  const first = newAddressWords()
  const last = newAddressWords()
  let line = 1

  const read = (bytes: Uint8Array, row: CsvFields): string | undefined => {
    const { starts, ends } = row
    if (row.broken) return 'broken quotes'
    if (row.fieldCount < 2) return ends[0] === starts[0] ? undefined : 'too few fields'
    let slash = starts[0]!
    while (slash < ends[0]! && bytes[slash] !== SLASH) slash++
    const family = parseAddressBytes(bytes, starts[0]!, slash, first)
    if (family === 0) return line === 1 ? undefined : 'no address'
    let asnField = 2
    if (slash === ends[0]!) {
      if (row.fieldCount < 3) return 'too few fields'
      if (parseAddressBytes(bytes, starts[1]!, ends[1]!, last) !== family) return 'no last address'
    } else {
      const length = readNumber(bytes, slash + 1, ends[0]!)
      if (!maskPrefix({ family, length, first, last })) return 'no prefix length'
      asnField = 1
    }
    if (compareWords(first, 0, last, 0, family === 4 ? 1 : 4) > 0) return 'first address after last'
    const asn = readAsn(bytes, starts[asnField]!, ends[asnField]!)
    if (asn < 0) return 'no AS number'
    if (asn === 0) return undefined
    sink.range(family, first, last, asn)
    const name = asnField + 1
    if (name < row.fieldCount) {
      sink.name(asn, bytes, starts[name]!, ends[name]!, row.doubled[name] === 1)
    }
    return undefined
  }

  return (bytes, row) => {
    const problem = read(bytes, row)
    if (problem !== undefined) sink.problem(`${path}:${line}`, problem)
    line += row.lineCount
  }
}

/** `123` or `AS123`, or -1. */
function readAsn(bytes: Uint8Array, start: number, end: number): number {
  const lettered =
    end - start > 2 && (bytes[start]! | 0x20) === 0x61 && (bytes[start + 1]! | 0x20) === 0x73
  const asn = readNumber(bytes, lettered ? start + 2 : start, end)
  return asn > 0xffff_ffff ? -1 : asn
}

/** One to ten digits, or -1. */
function readNumber(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start || end - start > 10) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}
