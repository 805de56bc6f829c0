// The byte reader of AS range files: layouts, quotes, bad rows by name, chunks cut anywhere.
// The real files against csv-parse: asn-files.world.test.ts.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newRangeCollector } from '../../../build/networks/collect-ranges.ts'
import { asnTaker, readRangeCsv } from '../../../build/networks/asn-csv.ts'
import { readRangeRows } from '../../../build/parse/range-rows.ts'
import { rowBytesMax } from '../../../build/parse/csv-fields.ts'
import { addressOf, valueOf } from '../mmdb/mmdb-lookup.ts'

async function* inChunks(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...cuts].sort((a, b) => a - b)
  let from = 0
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(from, end)
    from = end
  }
}

async function read(text: string | Buffer, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text)
  const collector = newRangeCollector()
  await readRangeRows({
    chunks: inChunks(bytes, cuts),
    path: 'asn.csv',
    taker: asnTaker(collector),
  })
  const rows = ([4, 6] as const).flatMap((family) => {
    const ranges = collector.ranges(family)
    const words = family === 4 ? 1 : 4
    const text = (array: Uint32Array, row: number): string =>
      addressOf(
        family,
        array
          .subarray(row * words, row * words + words)
          .reduce((value, word) => (value << 32n) | BigInt(word), 0n),
      )
    return Array.from(
      { length: ranges.count },
      (_, row) =>
        `${text(ranges.firsts, row)} ${text(ranges.lasts, row)} ${String(ranges.values[row])}`,
    )
  })
  return { rows, names: collector.organizations(), problems: collector.problems() }
}

const sound = [
  '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."',
  '2.0.0.0,2.0.0.255,AS64500,"LLC ""SPUTNIK"""\r',
  '2001:db8::,2001:db8::ffff,64501,"Line\nbreak, Ltd"',
  '5.0.0.0,5.0.0.0,64502,Plain',
  '',
].join('\n')

describe('readRangeRows', () => {
  it.each([
    ['asn,name,network\n64500,A,1.0.0.0/24\n'],
    ['# ours\n# theirs, too\nnetwork,asn,name\n1.0.0.0/24,64500,A\n'],
    ['# ours\nasn\tstart_ip\tname\tend_ip\n64500\t1.0.0.0\tA\t1.0.0.255\n'],
    [`network,${'x,'.repeat(20)}asn,name\n1.0.0.0/24,${'x,'.repeat(20)}64500,A\n`],
    ['# ours\n1.0.0.0,1.0.0.255,64500,A\n'],
  ])('finds the range by its name, behind comments: %j', async (text) => {
    const { rows, names, problems } = await read(text, [9])
    expect(rows).toEqual(['1.0.0.0 1.0.0.255 64500'])
    expect([names.get(64500), problems.count]).toEqual(['A', 0])
  })

  it('reads first, last, ASN and name of either family', async () => {
    const { rows, names, problems } = await read(sound)
    expect(rows).toEqual([
      '1.0.0.0 1.0.0.255 13335',
      '2.0.0.0 2.0.0.255 64500',
      '5.0.0.0 5.0.0.0 64502',
      '2001:db8:: 2001:db8::ffff 64501',
    ])
    expect(names.get(13335)).toBe('Cloudflare, Inc.')
    expect(names.get(64500)).toBe('LLC SPUTNIK')
    expect(names.get(64501)).toBe('Line break, Ltd')
    expect(problems.count).toBe(0)
  })

  it('reads the same however the bytes are cut', async () => {
    const whole = await read(sound)
    const length = Buffer.byteLength(sound)
    const cuts = fc.array(fc.nat(length), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (cuts) => {
        expect(await read(sound, cuts)).toEqual(whole)
      }),
    )
    expect(
      await read(
        sound,
        Array.from({ length }, (_, at) => at),
      ),
    ).toEqual(whole)
  })

  it('reads prefixes and skips a header', async () => {
    const { rows, problems } = await read(
      'network,autonomous_system_number,autonomous_system_organization\n' +
        '1.0.0.0/24,13335,CLOUDFLARENET\n2001:db8::/33,64500,"X"\n8.8.8.8/32,15169\n',
    )
    expect(rows).toEqual([
      '1.0.0.0 1.0.0.255 13335',
      '8.8.8.8 8.8.8.8 15169',
      `2001:db8:: ${addressOf(6, valueOf('2001:db8:8000::') - 1n)} 64500`,
    ])
    expect(problems.count).toBe(0)
  })

  it('reads a first row behind a byte order mark', async () => {
    const row = '"1.0.0.0",1.0.0.1,7,X\n'
    for (const cuts of [[], [1], [3]]) {
      const { rows, problems } = await read(`\ufeff${row}${row}`, cuts)
      expect([rows, problems.count]).toEqual([Array(2).fill('1.0.0.0 1.0.0.1 7'), 0])
    }
  })

  it('reads a last line without its line end', async () => {
    expect((await read('1.0.0.0,1.0.0.1,7,X')).rows).toEqual(['1.0.0.0 1.0.0.1 7'])
    expect((await read('1.0.0.0,1.0.0.1,7,"X"')).rows).toEqual(['1.0.0.0 1.0.0.1 7'])
    expect((await read('1.0.0.0,1.0.0.1,7')).rows).toEqual(['1.0.0.0 1.0.0.1 7'])
  })

  it('leaves out AS 0 and empty lines without a word', async () => {
    const { rows, problems } = await read('1.0.0.0,1.0.0.1,0,Not routed\n\n\r\n')
    expect(rows).toEqual([])
    expect(problems.samples).toEqual([])
  })

  const good = '1.0.0.0,1.0.0.1,7,X'
  const bad: readonly (readonly [row: string, problem: string])[] = [
    ['1.0.0,1.0.0.1,7,X', 'no address'],
    ['01.0.0.0,1.0.0.1,7,X', 'no address'],
    ['1.0.0.0,1.0.0.256,7,X', 'no last address'],
    ['1.0.0.0,2001:db8::,7,X', 'no last address'],
    ['1.0.0.9,1.0.0.1,7,X', 'first address after last'],
    ['2001:db8::2,2001:db8::1,7,X', 'first address after last'],
    ['1.0.0.0,1.0.0.1,,X', 'no AS number'],
    ['1.0.0.0,1.0.0.1,4294967296,X', 'no AS number'],
    ['1.0.0.0,1.0.0.1,-7,X', 'no AS number'],
    ['1.0.0.0,1.0.0.1,AS,X', 'no AS number'],
    ['1.0.0.0/33,7,X', 'no prefix length'],
    ['1.0.0.0/,7,X', 'no prefix length'],
    ['1.0.0.0', 'too few fields'],
    ['1.0.0.0,1.0.0.1', 'too few fields'],
    ['1.0.0.0,1.0.0.1,7,"X"Y', 'broken quotes'],
  ]
  for (const [row, problem] of bad) {
    it(`names and skips ${row}`, async () => {
      const { rows, problems } = await read(`${good}\n${row}\n${good}\n`)
      expect(rows).toHaveLength(2)
      expect(problems).toEqual({ count: 1, samples: [`asn.csv:2: ${problem}`] })
    })
  }

  it('loses one row, not the file, to a quote that never closes', async () => {
    const many = `${good}\n`.repeat((rowBytesMax * 3) / good.length)
    const { rows, problems } = await read(`${good}\n1.0.0.0,1.0.0.1,7,"X\n${many}`)
    expect(problems.samples).toEqual(['asn.csv:2: broken quotes'])
    expect(rows).toHaveLength(many.split('\n').length)
  })

  it('keeps counting lines behind a quoted line end', async () => {
    const { problems } = await read(`1.0.0.0,1.0.0.1,7,"a\nb"\nnonsense\n`)
    expect(problems.samples).toEqual(['asn.csv:3: too few fields'])
  })

  it('counts all problems and names the first few', async () => {
    const { problems } = await read('x,y,z\n'.repeat(100))
    expect(problems.count).toBe(99)
    expect(problems.samples).toHaveLength(20)
  })

  it('says which file it cannot read', async () => {
    await expect(readRangeCsv('/nowhere/asn.csv', newRangeCollector())).rejects.toMatchObject({
      code: 'ranges_unreadable',
      message: expect.stringContaining('/nowhere/asn.csv') as string,
    })
  })
})
