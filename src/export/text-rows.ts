// The text formats of an export, a row each for a range or a prefix:
//
//   csv       first,last,classification,…    ranges; RFC 4180, guarded for spreadsheets
//   nginx     192.0.2.0/24 "tor";            prefixes; for `include` within a geo block
//   haproxy   192.0.2.0/24 tor               prefixes; for map_ip()
//   ipset     add iprisk4-new 192.0.2.0/24   prefixes; for `ipset restore`, which swaps the sets whole
//   nft       192.0.2.0-192.0.3.7,           ranges; for `nft -f`, which takes the file whole or not
//   crowdsec  48h,iprisk,Range,ban,…         prefixes; for `cscli decisions import`
//   suricata  192.0.2.0/24,1,100             prefixes; a reputation list
//   rbldnsd   192.0.2.0/24 :127.0.0.3:tor    prefixes; a zone of DNS, RFC 5782
//   cidr, zeek, f5, mikrotik                 prefixes; list-formats.ts

import { csvCell } from '../bulk/rows/csv-cell.ts'
import { splitRange } from './address-space.ts'
import { type ExportField, fieldValue } from './export-fields.ts'
import type { ExportFile } from './export-file.ts'
import { type PrefixFormat, openList } from './list-formats.ts'
import type { RunSink } from './value-runs.ts'
import type { ExportValues } from './export-values.ts'
import { type Family, compareWords } from '../ip/address.ts'
import { addressBits } from '../ip/range.ts'

export interface RowWriter extends RunSink {
  /** Writes the end; returns the number of rows. */
  readonly finish: () => number
}

export interface RowWriterOptions {
  readonly file: ExportFile
  readonly book: ExportValues
  readonly fields: readonly ExportField[]
  /** One line. */
  readonly title: string
}

/** Neighbours often share few values. */
const keptTexts = 1 << 16

/** Recomputed if another value took the slot. */
function cachedTexts(textOf: (value: number) => string): (value: number) => string {
  const values = new Int32Array(keptTexts).fill(-1)
  const texts: string[] = Array.from({ length: keptTexts }, () => '')
  return (value) => {
    const slot = value & (keptTexts - 1)
    if (values[slot] !== value) {
      values[slot] = value
      texts[slot] = textOf(value)
    }
    return texts[slot]!
  }
}

type Cell = (text: string) => string

/** RFC 4180, for programs that run no formulas. */
const plainCell: Cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

function cellsOf({ book, fields }: RowWriterOptions, cell: Cell): (value: number) => string {
  return cachedTexts((value) => {
    const parts = book.parts(value)
    return fields
      .map((field) => {
        const said = fieldValue(field, parts) ?? ''
        return `,${typeof said === 'string' ? cell(said) : String(said)}`
      })
      .join('')
  })
}

/** `isTyped`: with the columns of `rangeColumns`. */
function rangeRows(options: RowWriterOptions, cell: Cell, isTyped: boolean): RowWriter {
  const { file } = options
  const textOf = cellsOf(options, cell)
  let rows = 0
  return {
    run: (first, last, value, family) => {
      rows++
      if (isTyped) file.text(`${family},`)
      file.address(first, family)
      file.text(',')
      file.address(last, family)
      if (isTyped) file.text(`,${hexOf(first, family)},${hexOf(last, family)}`)
      file.text(textOf(value))
      file.text('\n')
    },
    finish: () => rows,
  }
}

export function csvRows(options: RowWriterOptions): RowWriter {
  const { file, fields } = options
  file.text(`${['first', 'last', ...fields.map(({ name }) => name)].join(',')}\n`)
  return rangeRows(options, csvCell, false)
}

export function columnRows(options: RowWriterOptions): RowWriter {
  return rangeRows(options, plainCell, true)
}

const hexDigits = 8
const hexOf = (words: Uint32Array, family: Family): string => {
  const own = family === 4 ? words.subarray(3) : words
  return Array.from(own, (word) => word.toString(16).padStart(hexDigits, '0')).join('')
}

/** Hexadecimal digits, by which ranges can be joined. */
export const rangeColumns = ['family', 'first', 'last', 'first_hex', 'last_hex'] as const

/** The fewest prefixes of a range, with their lengths in their family. */
function splitPrefixes(
  [first, last, , family]: Parameters<RunSink['run']>,
  take: (address: Uint32Array, length: number) => void,
): void {
  const shorter = family === 4 ? 96 : 0
  splitRange(first, last, (address, length) => take(address, length - shorter))
}

/** A map has one field. */
function mapRows(
  { file, book, fields: [field] }: RowWriterOptions,
  after: (text: string) => string,
): RowWriter {
  const textOf = cachedTexts((value) =>
    field === undefined ? '' : after(String(fieldValue(field, book.parts(value)) ?? '')),
  )
  let rows = 0
  return {
    run: (...run) => {
      const [, , value, family] = run
      const text = textOf(value)
      splitPrefixes(run, (address, length) => {
        rows++
        file.address(address, family)
        file.text(`/${length}${text}`)
      })
    },
    finish: () => rows,
  }
}

export function nginxRows(options: RowWriterOptions): RowWriter {
  options.file.text(`# ${options.title}\n# geo $iprisk { default ""; include THIS-FILE; }\n`)
  return mapRows(options, (text) => ` "${text.replace(/["\\]/g, '\\$&')}";\n`)
}

export function haproxyRows(options: RowWriterOptions): RowWriter {
  options.file.text(`# ${options.title}\n# src,map_ip(THIS-FILE,"")\n`)
  return mapRows(options, (text) => ` ${text}\n`)
}

const setName = (family: Family): string => `iprisk${family}`

/** Prefixes alone, as in list URLs. */
export const prefixRows =
  (format: PrefixFormat) =>
  ({ file, title }: RowWriterOptions): RowWriter => {
    if (format === 'ipset') file.text(`# ${title}\n`)
    const list = openList(file, format, { name: 'iprisk', setOf: setName })
    let rows = 0
    return {
      run: (...run) => {
        const family = run[3]
        splitPrefixes(run, (address, length) => {
          rows++
          list.add({ family, address, length })
        })
      },
      finish: () => {
        list.end()
        return rows
      },
    }
  }

/** Suricata's IP reputation: of category 1 from 1 to 127, by score. */
export const suricataRows = (options: RowWriterOptions): RowWriter =>
  mapRows(options, (score) => `,1,${Math.max(1, Number(score))}\n`)

/** The last byte of 127.0.0.N by classification; 2 for all others. Only added to. */
const zoneCodes: Readonly<Record<string, number>> = {
  tor: 3,
  vpn: 4,
  proxy: 5,
  residential_proxy: 6,
  hosting: 7,
  mixed: 8,
  known_bot: 9,
}

/** One file of both families, with the addresses that RFC 5782 (5) lists in every zone. */
export function rbldnsdRows(options: RowWriterOptions): RowWriter {
  const { file, title } = options
  const rows = mapRows(options, (text) => ` :127.0.0.${zoneCodes[text] ?? 2}:${text}\n`)
  let isIpv6 = false
  const beginIpv6 = (): void => {
    if (!isIpv6) file.text('$DATASET ip6trie:iprisk6 @\n::ffff:7f00:2 :127.0.0.2:test\n')
    isIpv6 = true
  }
  file.text(`# ${title}\n$DATASET ip4trie:iprisk4 @\n127.0.0.2 :127.0.0.2:test\n`)
  return {
    run: (...run) => {
      if (run[3] === 6) beginIpv6()
      rows.run(...run)
    },
    finish: () => {
      beginIpv6()
      return rows.finish()
    },
  }
}

const elementsAtOnce = 1000

export function nftRows({ file, title }: RowWriterOptions): RowWriter {
  file.text(`# ${title}\nadd table inet iprisk\n`)
  const types = { 4: 'ipv4_addr', 6: 'ipv6_addr' } as const
  for (const family of [4, 6] as const) {
    const name = setName(family)
    file.text(`add set inet iprisk ${name} { type ${types[family]}; flags interval; }\n`)
    file.text(`flush set inet iprisk ${name}\n`)
  }
  let rows = 0
  let open: { readonly family: Family; count: number } | undefined
  const close = (): void => {
    if (open !== undefined) file.text(' }\n')
    open = undefined
  }
  return {
    run: (first, last, _value, family) => {
      rows++
      if (open?.family !== family || open.count === elementsAtOnce) close()
      file.text(open === undefined ? `add element inet iprisk ${setName(family)} { ` : ', ')
      open ??= { family, count: 0 }
      open.count++
      file.address(first, family)
      if (compareWords(first, 0, last, 0, 4) === 0) return
      file.text('-')
      file.address(last, family)
    },
    finish: () => {
      close()
      return rows
    },
  }
}

/** Bans; an import replaces none, so they end two days after it. */
export function crowdsecRows({ file }: RowWriterOptions): RowWriter {
  file.text('duration,reason,scope,type,value\n')
  let rows = 0
  return {
    run: (...run) => {
      const family = run[3]
      splitPrefixes(run, (address, length) => {
        rows++
        const isRange = length < addressBits(family)
        file.text(`48h,iprisk,${isRange ? 'Range' : 'Ip'},ban,`)
        file.address(address, family)
        file.text(isRange ? `/${length}\n` : '\n')
      })
    },
    finish: () => rows,
  }
}
