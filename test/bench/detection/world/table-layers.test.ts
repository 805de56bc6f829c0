// A table read back as layers against its own lookups, and evaluations against a plain recount of
// single addresses.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { valueAt } from '../../../../build/layer/layer.ts'
import {
  evaluateLabelled,
  labels,
  readLabelledList,
} from '../../../../bench/detection/evaluation/labelled-lists.ts'
import {
  type TableRecords,
  tableAccessSpace,
  readTableRecords,
} from '../../../../bench/detection/world/table-layers.ts'
import { newAddressWords } from '../../../../src/ip/address.ts'
import { parseAddress } from '../../../../src/ip/parse-address.ts'
import { formatRange, parseRange, prefixRange, bigintToWords } from '../../../../src/ip/range.ts'
import type { Range } from '../../../../src/ip/range.ts'
import { type OpenTable, openTable } from '../../../../src/table/open-table.ts'
import { searchIpv4, searchIpv6 } from '../../../../src/table/lookup/search.ts'
import { writeSmallTable } from '../../../table/small-table.ts'

let table: OpenTable
let records: TableRecords
let folder = ''
beforeAll(() => {
  table = openTable(writeSmallTable())
  records = readTableRecords(table.reader)
  folder = mkdtempSync(join(tmpdir(), 'iprisk-labelled-'))
})
afterAll(() => {
  table.close()
  rmSync(folder, { recursive: true })
})

const nearIpv6 = fc
  .tuple(
    fc.constantFrom('2a00', '2a01', '2a02', '2002', '2a01:4f8', '2a00:1:2:3'),
    fc.constantFrom('', '1', '2', '3', '4', 'ffff'),
  )
  .map(([start, end]) => `${start}::${end}`)

describe('readRecords', () => {
  it('holds at every address the record that a lookup finds', () => {
    const { views } = table.reader
    const words = newAddressWords()
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        words[0] = value
        expect(valueAt(records.layers[4], words)).toBe(searchIpv4(views, value))
      }),
    )
    const listed = ['9.1.2.3', '9.200.0.0', '11.1.1.1', '11.1.1.2', '12.0.0.5', '9.77.0.255']
    for (const text of listed) {
      parseAddress(text, words)
      expect(valueAt(records.layers[4], words)).toBe(searchIpv4(views, words[0]!))
    }
    const any = fc.bigInt({ min: 0x2n << 124n, max: (0x4n << 124n) - 1n })
    fc.assert(
      fc.property(fc.oneof(nearIpv6, any), (drawn) => {
        if (typeof drawn === 'string') parseAddress(drawn, words)
        else bigintToWords(6, drawn, words)
        expect(valueAt(records.layers[6], words)).toBe(searchIpv6(views, words))
      }),
      { numRuns: 300 },
    )
  })
})

describe('accessSpaceOf', () => {
  it('sums the sizes of what people’s lines lose', () => {
    const space = tableAccessSpace(records)
    // 9.0.0.0/8 and 12.0.0.0/8, 2a00::/16 and 2a02::/16.
    expect(space[4].total).toBe(2 * 2 ** 24)
    expect(space[6].total).toBe(2 * 2 ** 48)
    let fromBlock = 0
    for (const text of ['9.1.2.3', '12.0.0.5', '9.9.9.9']) {
      if ((table.check(text)?.risk_score ?? 0) >= 50) fromBlock++
    }
    const vpn = (table.check('9.200.0.1')?.risk_score ?? 0) >= 50
    expect(space[4].fromBlock).toBe(fromBlock + (vpn ? 65_536 : 0))
    expect(space[4].fromAsk).toBeGreaterThanOrEqual(space[4].fromBlock)
  })
})

describe('evaluate', () => {
  const near = fc
    .tuple(
      fc.constantFrom('9.1.2.3', '9.200.0.0', '11.1.1.1', '11.66.0.0', '12.0.0.5', '127.0.0.0'),
      fc.integer({ min: 24, max: 32 }),
    )
    .map(([text, length]) => prefixRange(4, (parseRange(text) as Range).first, length))

  it('equals a recount of every address', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(near, { minLength: 1, maxLength: 6, selector: formatRange }),
        fc.constantFrom(...labels),
        (ranges, label) => {
          const found = evaluateLabelled({ ranges, dropCount: 0, dropped: [] }, label, {
            reader: table.reader,
            records,
          })
          const sums = { hosting: 0, vpn: 0, critical: 0, fromBlock: 0 }
          for (const range of ranges) {
            const part = 1 / Number(range.last - range.first + 1n)
            for (let value = range.first; value <= range.last; value++) {
              const answer = table.check(formatRange({ family: 4, first: value, last: value }))
              if (answer?.classification === 'hosting') sums.hosting += part
              if (answer?.signals.vpn === true) sums.vpn += part
              if (answer?.risk_level === 'critical') sums.critical += part
              if ((answer?.risk_score ?? 0) >= 50) sums.fromBlock += part
            }
          }
          const share = (sum: number): unknown => expect.closeTo(sum / ranges.length, 9)
          expect(found.entries).toBe(ranges.length)
          expect(found.byClass.hosting.share).toEqual(share(sums.hosting))
          expect(found.bySignal.vpn.share).toEqual(share(sums.vpn))
          expect(found.byLevel.critical.share).toEqual(share(sums.critical))
          expect(found.fromBlock.share).toEqual(share(sums.fromBlock))
          expect(label === 'vpn' ? found.recall : found.bySignal.vpn).toEqual(found.bySignal.vpn)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('reads addresses, prefixes and ranges, comments and gzip, each once', async () => {
    const path = join(folder, 'list.txt.gz')
    writeFileSync(
      path,
      gzipSync(
        '# ours\n11.1.1.1\n11.1.1.1 ; again\n11.0.0.0/30\n9.9.9.9-9.9.9.10\nnonsense\n300.1.1.1\n',
      ),
    )
    const list = await readLabelledList(path)
    expect(list.ranges.map(formatRange)).toEqual(['11.1.1.1', '11.0.0.0/30', '9.9.9.9-9.9.9.10'])
    expect(list.dropCount).toBe(2)
    expect(list.dropped.map((text) => text.slice(path.length))).toEqual([
      ':line 6: no address, prefix or range: nonsense',
      ':line 7: no address, prefix or range: 300.1.1.1',
    ])
  })

  it.each([
    ['empty.txt', Buffer.from(''), 'ranges_empty', /it is empty/],
    [
      'words.txt',
      Buffer.from('hello\nno\n'),
      'ranges_empty',
      /the first line that is not: .*line 1: .*hello/,
    ],
    ['page.html', Buffer.from('<html>\nno\n'), 'input_unreadable', /page.html/],
    ['cut.txt.gz', gzipSync('9.1.2.3\n').subarray(0, 15), 'input_unreadable', /cannot be read/],
  ])('says of %s why it is no list', async (name, bytes, code, message) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    const thrown: unknown = await readLabelledList(path).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) as string })
  })

  it('answers transition space as a lookup does', async () => {
    const path = join(folder, 'transition.txt')
    writeFileSync(path, '2002:0b01:0101::\n::ffff:9.1.2.3\n')
    const list = await readLabelledList(path)
    const found = evaluateLabelled(list, 'tor', { reader: table.reader, records })
    expect(found.bySignal.tor.share).toBe(0.5)
    expect(found.bySignal.vpn.share).toBe(0.5)
  })

  it('takes as clean what nothing accuses', async () => {
    const path = join(folder, 'clean.txt')
    writeFileSync(path, '9.3.3.3\n9.1.2.3\n')
    const found = evaluateLabelled(await readLabelledList(path), 'clean', {
      reader: table.reader,
      records,
    })
    expect(found.recall.share).toBe(0.5)
    expect(found.fromBlock.share).toBe(0.5)
  })
})
