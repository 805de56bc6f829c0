import * as fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import type { Layer } from '../../../build/layer/layer.ts'
import { parseMmdb } from '../../../build/mmdb/mmdb-file.ts'
import { type MmdbWalk, unpackTree, walkMmdb } from '../../../build/mmdb/walk-tree.ts'
import { addressOf, expectSound, lookup, startOf, valueOf } from './mmdb-lookup.ts'
import { packNode, writeMmdb, type MmdbSpec, type Value } from './mmdb-writer.ts'

type Tag = { readonly tag: number }

/** Walks with the record's own `tag` as its id. */
function walkTags(bytes: Buffer): MmdbWalk {
  return walkMmdb({
    file: parseMmdb('test.mmdb', bytes),
    idOf: (record) => (record as Tag).tag,
  })
}

/** The pieces of a layer as text, `address value`. */
function piecesOf(layer: Layer | undefined): string[] {
  if (layer === undefined) return []
  return Array.from(
    { length: layer.count },
    (_, i) => `${addressOf(layer.family, startOf(layer, i))} ${layer.values[i]}`,
  )
}

const tags = (...numbers: number[]): Value[] => numbers.map((tag) => ({ tag }))
const sizes = [24, 28, 32] as const

describe.each(sizes)('a tree of %i bits a record', (recordBits) => {
  it('of ip_version 4 gives the IPv4 layer alone', () => {
    const [one, two] = tags(1, 2) as [Value, Value]
    const walk = walkTags(
      writeMmdb({
        ipVersion: 4,
        recordBits,
        entries: [
          ['1.0.0.0/8', one],
          ['1.2.0.0/16', two],
          ['255.255.255.255/32', two],
        ],
      }),
    )
    expect(piecesOf(walk.layers[4])).toEqual([
      '0.0.0.0 0',
      '1.0.0.0 1',
      '1.2.0.0 2',
      '1.3.0.0 1',
      '2.0.0.0 0',
      '255.255.255.255 2',
    ])
    expect(walk.layers[6]).toBeUndefined()
    expect(walk.recordCount).toBe(2)
  })

  it('of ip_version 6 holds IPv4 at ::/96, and aliases of it are left out of IPv6', () => {
    const [one, two, three] = tags(1, 2, 3) as [Value, Value, Value]
    const walk = walkTags(
      writeMmdb({
        ipVersion: 6,
        recordBits,
        entries: [
          ['1.0.0.0/8', one],
          ['2001:4860::/32', two],
          ['2003::/16', three],
          ['2a00::/128', three],
        ],
        aliases: ['2002::/16', '2001::/32', '::ffff:0:0/96'],
      }),
    )
    expect(piecesOf(walk.layers[4])).toEqual(['0.0.0.0 0', '1.0.0.0 1', '2.0.0.0 0'])
    expect(piecesOf(walk.layers[6])).toEqual([
      ':: 0',
      '2001:4860:: 2',
      '2001:4861:: 0',
      '2003:: 3',
      '2004:: 0',
      '2a00:: 3',
      '2a00::1 0',
    ])
  })
})

it.each(sizes)('records of %i bits are unpacked to their last bit', (recordBits) => {
  const sound = parseMmdb('x', writeMmdb({ ipVersion: 4, recordBits, entries: [] }))
  const record = fc.integer({ min: 0, max: 2 ** recordBits - 1 })
  fc.assert(
    fc.property(fc.array(fc.tuple(record, record), { minLength: 1 }), (nodes) => {
      const bytes = Buffer.concat(nodes.map((node) => packNode(node, recordBits)))
      expect([...unpackTree({ ...sound, bytes, nodeCount: nodes.length })]).toEqual(nodes.flat())
    }),
  )
})

describe('the edges of 2000::/3', () => {
  const ipv6 = (entries: MmdbSpec['entries']): string[] =>
    piecesOf(walkTags(writeMmdb({ ipVersion: 6, recordBits: 24, entries })).layers[6])
  const [one, two] = tags(1, 2) as [Value, Value]

  it('cut what reaches beyond them, and drop what lies outside', () => {
    expect(ipv6([['::/1', one]])).toEqual([':: 0', '2000:: 1', '4000:: 0'])
    expect(
      ipv6([
        ['1000::/4', one],
        ['4000::/2', one],
        ['fc00::/7', one],
      ]),
    ).toEqual([':: 0'])
    expect(ipv6([['2000::/3', two]])).toEqual([':: 0', '2000:: 2', '4000:: 0'])
  })

  it('one record over all IPv4 becomes one piece', () => {
    const entries: MmdbSpec['entries'] = [['::/96', one]]
    const bytes = writeMmdb({ ipVersion: 6, recordBits: 24, entries })
    expect(piecesOf(walkTags(bytes).layers[4])).toEqual(['0.0.0.0 1'])
  })
})

describe('ids', () => {
  it('are asked for once a record, in order of address, and equal neighbours are joined', () => {
    const [one, two, three] = tags(1, 2, 3) as [Value, Value, Value]
    const entries: MmdbSpec['entries'] = [
      ['1.0.0.0/8', three],
      ['2.0.0.0/8', one],
      ['3.0.0.0/8', two],
      ['4.0.0.0/8', three],
    ]
    const asked: number[] = []
    const file = parseMmdb('x', writeMmdb({ ipVersion: 4, recordBits: 28, entries }))
    const walk = walkMmdb({
      file,
      idOf: (record) => {
        asked.push((record as Tag).tag)
        return (record as Tag).tag === 3 ? 9 : 7
      },
    })
    expect(asked).toEqual([3, 1, 2])
    expect(piecesOf(walk.layers[4])).toEqual([
      '0.0.0.0 0',
      '1.0.0.0 9',
      '2.0.0.0 7',
      '4.0.0.0 9',
      '5.0.0.0 0',
    ])
  })

  it('stay right while their hash grows', () => {
    const entries = Array.from({ length: 9000 }, (_, i): readonly [string, Value] => [
      `10.${i >> 8}.${i & 255}.0/24`,
      { tag: i + 1 },
    ])
    const walk = walkTags(writeMmdb({ ipVersion: 4, recordBits: 32, entries }))
    expect(walk.recordCount).toBe(9000)
    expect(walk.layers[4].count).toBe(9002)
    expect(lookup(walk.layers[4], '10.35.39.255')).toBe(35 * 256 + 39 + 1)
    expectSound(walk.layers[4])
  })
})

describe('any tree', () => {
  const ipv4Entry = fc
    .record({ value: fc.nat(0xffff_ffff), length: fc.integer({ min: 1, max: 32 }) })
    .map(({ value, length }) => `${addressOf(4, mask(BigInt(value), 32, length))}/${length}`)
  const ipv6Entry = fc
    .record({
      high: fc.bigInt({ min: 1n << 61n, max: (1n << 62n) - 1n }),
      low: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      length: fc.integer({ min: 4, max: 128 }),
    })
    .map(({ high, low, length }) => {
      const value = mask((high << 64n) | low, 128, length)
      return `${addressOf(6, value)}/${length}`
    })

  it('answers as mmdb-lib does, at the edges of its prefixes and beside them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...sizes),
        fc.constantFrom<4 | 6>(4, 6),
        fc.array(ipv4Entry, { minLength: 1, maxLength: 30 }),
        fc.array(ipv6Entry, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 60, maxLength: 60 }),
        (recordBits, ipVersion, ipv4, ipv6, values) => {
          const prefixes = ipVersion === 4 ? ipv4 : [...ipv4, ...ipv6]
          const entries = prefixes.map((prefix, i): readonly [string, Value] => [
            prefix,
            { tag: values[i]! },
          ])
          const bytes = writeMmdb({ ipVersion, recordBits, entries })
          const reader = new Reader(bytes)
          const { layers } = walkTags(bytes)
          for (const layer of [layers[4], layers[6]]) {
            if (layer === undefined) continue
            expectSound(layer)
            const { family } = layer
            for (const prefix of family === 4 ? ipv4 : ipv6) {
              for (const address of edges(family, prefix)) {
                const truth = reader.get(address) as unknown as Tag | null
                expect(`${address} ${lookup(layer, address)}`).toBe(`${address} ${truth?.tag ?? 0}`)
              }
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

function mask(value: bigint, bits: number, length: number): bigint {
  const host = BigInt(bits - length)
  return (value >> host) << host
}

/** First and last address of a prefix and their outer neighbours, as far as they are in scope. */
function edges(family: 4 | 6, prefix: string): string[] {
  const [address, length] = prefix.split('/') as [string, string]
  const bits = family === 4 ? 32 : 128
  const size = 1n << BigInt(bits - Number(length))
  const first = valueOf(address)
  const [low, high] = family === 4 ? [0n, (1n << 32n) - 1n] : [1n << 125n, (1n << 126n) - 1n]
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((value) => value >= low && value <= high)
    .map((value) => addressOf(family, value))
}
