// Bad files are a table, too: whatever bytes come, the outcome is layers or an IpriskError that
// names the file, soon.

import { describe, expect, it } from 'vitest'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { openMmdb, parseMmdb } from '../../../build/mmdb/mmdb-file.ts'
import { locationOf, networkOf } from '../../../build/mmdb/mmdb-layouts.ts'
import { walkMmdb } from '../../../build/mmdb/walk-tree.ts'
import { header, pointer, writeMmdb, type MmdbSpec, type Value } from './mmdb-writer.ts'
import { inForm } from '../../form.ts'

const place: Value = {
  city: { names: { en: 'Oslo', no: 'Oslo' } },
  country: { iso_code: 'NO' },
  location: { latitude: 59.9127, longitude: 10.7461, time_zone: 'Europe/Oslo' },
  subdivisions: [{ names: { en: 'Oslo County' } }],
}

const sound: MmdbSpec = {
  ipVersion: 6,
  recordBits: 28,
  entries: [
    ['1.2.3.0/24', place],
    ['9.0.0.0/8', { country: { iso_code: 'SE' } }],
    ['2001:db8::/32', place],
    ['2a00::/12', { country: { iso_code: 'DK' } }],
  ],
  aliases: ['2002::/16'],
}

function walk(bytes: Buffer): void {
  walkMmdb({
    file: parseMmdb('bad.mmdb', bytes),
    idOf: (record) => (locationOf(record) === undefined ? 0 : 1),
  })
}

/** The error that refuses; undefined where nothing does. Any other error fails the test. */
function refusal(action: () => void): IpriskError | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    if (error instanceof IpriskError) return error
    throw error
  }
}

function errorOf(action: () => void): IpriskError {
  return refusal(action) ?? raise('it was not refused')
}

function raise(message: string): never {
  throw new Error(message)
}

const raw = (bytes: Buffer): Value => ({ raw: bytes })
const only = (record: Value): Buffer =>
  writeMmdb({ ipVersion: 4, recordBits: 24, entries: [['1.0.0.0/8', record]] })
const with4 = (bend: MmdbSpec['bend'] & object): Buffer =>
  writeMmdb({ ipVersion: 4, recordBits: 32, entries: [['128.0.0.0/2', place]], bend })
/** Ten maps deep, each of nine members that all lead to the next: 9^10 values in 300 bytes. */
const laughs = (): Buffer => {
  const level = Buffer.concat([header(7, 9)])
  const bytes = level.length + 9 * 4
  const levels = Array.from({ length: 10 }, (_, i) =>
    Buffer.concat([
      level,
      ...Array.from({ length: 9 }, (_, j) =>
        Buffer.concat([header(2, 1), Buffer.from(String(j)), pointer((i + 1) * bytes)]),
      ),
    ]),
  )
  return Buffer.concat([...levels, header(14, 1)])
}

/** A text of 60,000 bytes, and an array that names it 3,000 times: 180 MB from 70 kB. */
const echoes = (): Buffer => {
  const text = Buffer.concat([header(2, 60_000), Buffer.alloc(60_000, 'x')])
  const array = (to: number): Buffer =>
    Buffer.concat([header(11, 3000), ...Array.from({ length: 3000 }, () => pointer(to))])
  return Buffer.concat([array(array(4000).length), text])
}

const cases: readonly (readonly [what: string, bytes: () => Buffer, says: RegExp])[] = [
  ['nothing at all', () => Buffer.alloc(0), /byte 0: there is no MMDB metadata marker/],
  ['a web page', () => Buffer.from('<html>not found</html>'), /no MMDB metadata marker/],
  ['the marker alone', () => Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'), /cannot be read/],
  ['metadata that is not a map', () => bentMetadata(header(6, 0)), /is not a map/],
  ['metadata in a loop', () => bentMetadata(pointer(0)), /nested more than/],
  ['another major version', () => withMetadata({ binary_format_major_version: 3 }), /is 3, not 2/],
  ['an unknown ip_version', () => withMetadata({ ip_version: 5 }), /ip_version is 5/],
  ['an unknown record size', () => withMetadata({ record_size: 20 }), /record_size is 20/],
  ['no nodes', () => withMetadata({ node_count: 0 }), /node_count is 0/],
  ['half a node', () => withMetadata({ node_count: 1.5 }), /node_count is 1.5/],
  ['too many nodes', () => withMetadata({ node_count: 4e9 }), /tree would end at byte/],
  ['too few nodes', () => withMetadata({ node_count: 40 }), /not followed by zero bytes/],
  ['text for a number', () => withMetadata({ node_count: 'many' }), /node_count is "many"/],
  ['a build before time', () => withMetadata({ build_epoch: 'never' }), /build_epoch is "never"/],
  ['a build after time', () => withMetadata({ build_epoch: 1n << 63n }), /build_epoch is/],
  [
    'a node that leads to itself',
    () => with4((nodes) => nodes.map(() => [0, 0])),
    /tree loops.*lies deeper than/,
  ],
  ['a loop of two nodes', () => with4(([a]) => [[1, a![1]], [0, 0]]), /tree loops.*lies deeper than/], // prettier-ignore
  ['a loop in IPv6', loopInIpv6, /tree loops.*lies deeper than/],
  ['a tree of twins, 2^30 leaves', twins, /tree loops.*visited repeatedly/],
  ['data behind the end', () => with4(([a, ...b]) => [[a![0], 4e9], ...b]), /outside the data/],
  ['data in the separator', () => with4(([a, ...b]) => [[a![0], 5], ...b]), /outside the data/],
  ['a record that points to itself', () => only(raw(pointer(0))), /nested more than 32/],
  ['a record of records of records', () => only(raw(laughs())), /more than 4096 values/],
  ['a text that 3,000 pointers repeat', () => only(raw(echoes())), /more than 131072 characters/],
  ['an array of 16 million', () => only(raw(header(11, 16_000_000))), /claims more than 65,820/],
  ['an array that ends early', () => only(raw(header(11, 60_000))), /past the end/],
  ['a text that ends early', () => only(raw(header(2, 200))), /ends past the end/],
  ['a double that ends early', () => only(raw(header(3, 8))), /byte \d+: the data record/],
  ['a type that does not exist', () => only(raw(Buffer.from([0x00, 0x20]))), /Unknown type 39/],
  ['a record that is no map', () => only('text'), /no known layout of places.*it is not a map/],
]

function withMetadata(metadata: Readonly<Record<string, Value>>): Buffer {
  return writeMmdb({ ...sound, metadata })
}

function bentMetadata(metadata: Buffer): Buffer {
  const bytes = writeMmdb(sound)
  const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
  const end = bytes.lastIndexOf(marker) + marker.length
  return Buffer.concat([bytes.subarray(0, end), metadata])
}

/** Both sides of each node lead to the next: 31 nodes, no loop, and no end in sight. */
function twins(): Buffer {
  return writeMmdb({
    ipVersion: 4,
    recordBits: 24,
    entries: [['0.0.0.0/31', place]],
    bend: (nodes) => nodes.map(([left]) => [left, left]),
  })
}

function loopInIpv6(): Buffer {
  return writeMmdb({
    ipVersion: 6,
    recordBits: 24,
    entries: [['2003::/16', place]],
    bend: (nodes) => nodes.map((node, i) => (i > 5 ? [i - 2, i - 1] : node)),
  })
}

describe('a bad file', () => {
  it.each(cases)('%s', (_, bytes, says) => {
    const error = errorOf(() => walk(bytes()))
    expect(error.message).toMatch(says)
    expect(error.message).toMatch(/^bad\.mmdb: byte \d+: /)
    expect(error.fault).toBe('input')
  })

  it('that is not there', () => {
    const error = errorOf(() => openMmdb('/nowhere/city.mmdb'))
    expect(error.code).toBe('mmdb_unreadable')
    expect(error.message).toMatch(/^\/nowhere\/city\.mmdb: /)
  })

  it('cut off anywhere is refused', () => {
    const bytes = writeMmdb(sound)
    for (let length = 0; length < bytes.length; length++) {
      expect(errorOf(() => walk(bytes.subarray(0, length))).code).toBe('mmdb_invalid')
    }
  })

  it('that lacks a part of its tree is refused', () => {
    const bytes = writeMmdb(sound)
    const { dataStart } = parseMmdb('sound.mmdb', bytes)
    for (let hole = 0; hole + 40 < dataStart - 16; hole += 7) {
      const pieces = [bytes.subarray(0, hole), bytes.subarray(hole + 40)]
      expect(errorOf(() => walk(Buffer.concat(pieces))).code).toBe('mmdb_invalid')
    }
  })
})

const changes = inForm({ short: [0x01, 0x80], full: [0x01, 0x80, 0xff, 0x1f, 0x20, 0xe0] })

it('any one byte changed to any of several values: layers or an IpriskError', () => {
  const bytes = writeMmdb(sound)
  let refused = 0
  let slowestMs = 0
  for (let at = 0; at < bytes.length; at++) {
    for (const change of changes) {
      const bent = Buffer.from(bytes)
      bent[at] = bent[at]! ^ change
      const began = performance.now()
      if (refusal(() => walk(bent)) !== undefined) refused++
      slowestMs = Math.max(slowestMs, performance.now() - began)
    }
  }
  expect(refused).toBeGreaterThan(bytes.length)
  // Generous: what it guards against runs for minutes.
  expect(slowestMs).toBeLessThan(2000)
})

it('bytes changed in many places: layers or an IpriskError', () => {
  let state = 20_260_822
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const counts = new Map<string | undefined, number>()
  for (let round = 0; round < inForm({ short: 400, full: 3000 }); round++) {
    const bytes = writeMmdb({ ...sound, recordBits: ([24, 28, 32] as const)[round % 3]! })
    // Rarely in the metadata, whose damage ends the matter before the walk.
    const until = round % 4 === 0 ? bytes.length : bytes.length - 230
    for (let count = 1 + random(6); count > 0; count--) bytes[random(until)] = random(256)
    const asPlaces = refusal(() => walk(bytes))
    const asNetworks = refusal(() => {
      walkMmdb({ file: parseMmdb('x', bytes), idOf: (record) => networkOf(record)?.asn ?? 0 })
    })
    for (const error of [asPlaces, asNetworks])
      counts.set(error?.code, 1 + (counts.get(error?.code) ?? 0))
  }
  // The fuzz reaches every outcome: damage, an unknown layout, and damage that goes unseen.
  expect(new Set(counts.keys())).toEqual(
    new Set(['mmdb_invalid', 'mmdb_layout_unknown', undefined]),
  )
})
