// Bad table files by table: each is refused with a message that names section and offset, and the
// process is unhurt.

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ByteBuffer } from 'flatbuffers'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { TableHeader } from '../../../src/schema/generated/iprisk/table-header.ts'
import { formatMinor, recordWords, trailerBytes } from '../../../src/schema/table-layout.ts'
import { type SectionViews, sectionNames } from '../../../src/schema/table-sections.ts'
import { parseQuery, newQuery } from '../../../src/table/lookup/query.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { searchIpv4, searchIpv6 } from '../../../src/table/lookup/search.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import { readTrailer, writeTrailer } from '../../../src/table/file/trailer.ts'
import { smallContent, writeSmallTable } from '../small-table.ts'
import { inForm } from '../../form.ts'
import { encodedTable } from '../encoded-table.ts'

const good = readFileSync(writeSmallTable())
const folder = mkdtempSync(join(tmpdir(), 'iprisk-corrupt-'))
let number = 0

/** Of the bytes outside the sections every one in the long form, else some of these. */
const step = inForm({ short: 251, full: 13, long: 1 })

// Hundreds of tables of 8 MB: kept to the end they would fill a disk.
afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(bytes: Uint8Array): string {
  const path = join(folder, `table-${number++}`)
  writeFileSync(path, bytes)
  return path
}

/** Where each section lies in the good file. */
function sectionRange(name: (typeof sectionNames)[number]): readonly [number, number] {
  const copy = new Uint8Array(good)
  const view = readTableView(copy, 'good').views[name]
  return [view.byteOffset, view.byteOffset + view.byteLength]
}

/** What an unverified table says of an address it knows: JSON, or the code of an error. */
function answerOf(path: string): string {
  const table = openTable(path)
  try {
    return JSON.stringify(table.check('9.1.2.3'))
  } catch (error) {
    return error instanceof IpriskError ? error.code : String(error)
  } finally {
    table.close()
  }
}

function flipped(offset: number, bit = 1): Buffer {
  const bytes = Buffer.from(good)
  bytes[offset]! ^= bit
  return bytes
}

describe('a table with a flipped bit', () => {
  it.each(sectionNames)('in %s is refused by name and offset', (name) => {
    const [from, to] = sectionRange(name)
    const middle = Math.floor((from + to) / 2)
    for (const offset of inForm({ short: [middle], full: [from, middle, to - 1] })) {
      const path = write(flipped(offset))
      expect(() => verifyTable(path)).toThrow(
        new RegExp(`damaged in section ${name} at offset ${from}: its checksum`),
      )
      // Whoever serves it unverified has an answer, or is told the same.
      expect(answerOf(path)).toMatch(/^\{"classification|^table_corrupt$/)
    }
  })

  it('in any byte outside the sections is refused', () => {
    const { headerBytes } = readTableView(new Uint8Array(good), 'good')
    for (let offset = 0; offset < headerBytes; offset += step) {
      const bytes = flipped(offset, 1 << (offset % 8))
      expect(() => readTableView(bytes, 'x')).toThrow(/section header at offset 0/)
    }
    for (let offset = good.length - 32; offset < good.length; offset += step) {
      const bytes = flipped(offset, 1 << (offset % 8))
      expect(() => readTableView(bytes, 'x')).toThrow(/section (trailer|header)/)
    }
  })

  it('between sections is refused', () => {
    const ranges = sectionNames.map(sectionRange).sort((a, b) => a[0] - b[0])
    // One file, byte by byte: its 8 MB take longer to write than to verify.
    const path = write(good)
    const file = openSync(path, 'r+')
    const put = (offset: number, byte: number) => writeSync(file, Uint8Array.of(byte), 0, 1, offset)
    for (let i = 1; i < ranges.length; i++) {
      const from = ranges[i - 1]![1]
      const to = ranges[i]![0]
      for (let offset = from; offset < to; offset += step) {
        put(offset, good[offset]! ^ 4)
        expect(() => verifyTable(path)).toThrow(/is damaged in section/)
        put(offset, good[offset]!)
      }
    }
    verifyTable(path)
    closeSync(file)
  }, 120_000)
})

describe('a table that is cut off', () => {
  it('is refused at every kind of length', () => {
    const { headerBytes } = readTableView(new Uint8Array(good), 'good')
    const lengths = [1, 7, 8, 31, 32, 39, 40, 64, headerBytes - 1, headerBytes, good.length - 1]
    const bounds = sectionNames.flatMap((name) => sectionRange(name))
    for (const length of [...lengths, ...bounds]) {
      const path = write(good.subarray(0, length))
      expect(() => openTable(path)).toThrow(/damaged in section trailer at offset \d+/)
      expect(() => verifyTable(path)).toThrow(/damaged in section trailer at offset \d+/)
    }
  })

  it('or longer than it says is refused', () => {
    const path = write(Buffer.concat([good, good.subarray(-32)]))
    expect(() => openTable(path)).toThrow(
      /section trailer .* it states \d+ bytes, but the file has \d+/,
    )
  })
})

describe('what is no table', () => {
  it.each([
    ['a folder', () => (mkdirSync(join(folder, 'folder')), join(folder, 'folder')), 'regular file'],
    ['an empty file', () => write(Buffer.alloc(0)), 'it is empty'],
    ['nothing', () => join(folder, 'missing'), 'ENOENT'],
    ['zeros', () => write(Buffer.alloc(1 << 20)), 'section trailer'],
    ['text', () => write(Buffer.from('hello '.repeat(99))), 'section trailer'],
  ])('%s', (_name, make, message) => {
    const path = make()
    expect(() => openTable(path)).toThrow(message)
    expect(() => verifyTable(path)).toThrow(message)
  })

  it('another version says which and what to do', () => {
    const bytes = Buffer.from(good)
    bytes.writeUInt32LE(2, bytes.length - 12)
    expect(() => openTable(write(bytes))).toThrow(
      /format version 2; this program reads version 1 .*Build the table again/,
    )
  })

  it('one without a section of today is of another version, not damaged', () => {
    const bytes = Buffer.from(good)
    const trailer = readTrailer(bytes, 'good')
    bytes.write('regionz', bytes.indexOf('regions'))
    const headerCrc = crc32(bytes.subarray(0, trailer.headerBytes))
    bytes.set(writeTrailer({ ...trailer, headerCrc }), bytes.length - trailerBytes)
    expect(() => openTable(write(bytes))).toThrow(
      /no such section; this program reads version 1 \(section regions\)/,
    )
  })

  it('a later minor, which has only added something, is read', () => {
    const bytes = Buffer.from(good)
    const trailer = readTrailer(bytes, 'good')
    const { bb, bb_pos: at } = TableHeader.getRootAsTableHeader(new ByteBuffer(bytes))
    // Where its table of fields says that the second one is: the minor.
    const place = at + bb!.readInt16(at - bb!.readInt32(at) + 6)
    expect(bytes.readUInt16LE(place)).toBe(formatMinor)
    bytes.writeUInt16LE(7, place)
    const headerCrc = crc32(bytes.subarray(0, trailer.headerBytes))
    bytes.set(writeTrailer({ ...trailer, headerCrc }), bytes.length - trailerBytes)
    const table = openTable(write(bytes))
    expect(table.check('9.1.2.3')).toEqual(openTable(write(good)).check('9.1.2.3'))
  })

  it('a sound file whose header lies about itself is refused', () => {
    const bytes = Buffer.from(good)
    const { headerBytes } = readTableView(new Uint8Array(good), 'good')
    bytes.write('XXXX', 4, 'latin1')
    bytes.writeUInt32LE(crc32(bytes.subarray(0, headerBytes)), bytes.length - 16)
    expect(() => openTable(write(bytes))).toThrow(/section header at offset 4: its identifier/)
  })
})

describe('a damaged table that nobody has verified', () => {
  const spoiled = (spoil: (views: SectionViews) => void): ReturnType<typeof openTable> => {
    const content = smallContent()
    spoil(content.views)
    return openTable(write(encodedTable(content).bytes))
  }

  it('has whole answers, as its twin gives them, where ids lie beyond their sections', () => {
    const table = spoiled(({ records }) => {
      for (let at = 0; at < records.length; at += recordWords) records[at] = 99
    })
    const query = newQuery()
    const bytes = new TextEncoder().encode('9.1.2.3')
    expect(parseQuery(query, bytes, 0, bytes.length)).toBe(true)
    const answer = Buffer.from(table.answer(query).body).toString()
    expect(answer).toBe(JSON.stringify(table.check('9.1.2.3')))
  })

  it('ends its searches, whatever its index says', () => {
    const table = spoiled((views) => {
      for (const index of [views.ipv4_index, views.ipv6_index]) {
        for (let at = 1; at < index.length; at += 2) index[at] = 0xffff_ffff
      }
    })
    const words = Uint32Array.of(0x2a01_04f8, 0, 0, 1)
    let ended = 0
    for (let bucket = 0; bucket < 4; bucket++) {
      searchIpv4(table.reader.views, bucket << 12)
      words[0] = 0x2a01_0000 + (bucket << 9)
      searchIpv6(table.reader.views, words)
      ended += 1
    }
    expect(ended).toBe(4)
  })
})

describe('a table whose checksums fit but whose content does not', () => {
  const cases: readonly (readonly [
    string,
    (views: Record<string, Uint32Array>) => void,
    RegExp,
  ])[] = [
    ['unsorted starts', (v) => v['ipv4_starts']!.reverse(), /ipv4_starts/],
    ['record out of bounds', (v) => (v['ipv4_records']![1] = 4_000_000), /ipv4_records .* id/],
    ['network out of bounds', (v) => (v['records']![0] = 99), /section records .* id 99/],
    ['location out of bounds', (v) => (v['records']![5] = 99), /section records .* id 99/],
    ['verdict out of bounds', (v) => (v['records']![2] = 9999), /section records .* id 9999/],
    ['string out of bounds', (v) => (v['networks']![1] = 9999), /section networks .* id 9999/],
    ['index goes back', (v) => (v['ipv4_index']![5] = 7), /section ipv4_index/],
    ['falling offsets', (v) => (v['string_offsets']![1] = 1e9), /section string_offsets/],
    ['unknown source', (v) => (v['evidence']![0] = 0xffff), /section evidence .* source/],
    ['tails out of order', (v) => (v['ipv6_tails']![3] = 4e9), /section ipv6_tails/],
    ['a tail twice', (v) => v['ipv6_tails']!.copyWithin(3, 0, 3), /ipv6_tails .* do not ascend/],
    ['region of no string', (v) => (v['regions']![2] = 99_999), /section regions .* id 99999/],
    ['unknown tail group', (v) => v['ipv6_records']!.fill(0xffff_ffff), /ipv6_records .* id/],
  ]

  it('evidence of a source that has no weight', () => {
    const content = smallContent()
    const sources = content.sources.map(({ voice: _voice, ...source }) => source)
    expect(() => verifyTable(write(encodedTable({ ...content, sources }).bytes))).toThrow(
      /section evidence .* its source has no weight/,
    )
  })

  it.each(cases)('%s', (_name, spoil, message) => {
    const content = smallContent()
    const views = Object.fromEntries(
      Object.entries(content.views).map(([name, view]) => [name, view.slice()]),
    )
    spoil(views as Record<string, Uint32Array>)
    const { bytes } = encodedTable({ ...content, views: views as typeof content.views })
    expect(() => verifyTable(write(bytes))).toThrow(message)
  })
})
