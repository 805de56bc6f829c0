// A table as an MMDB file (MaxMind DB 2.0): one tree for both families, IPv4 below ::/96. As in
// MaxMind's files, IPv4-mapped, NAT64 and 6to4 lead to the IPv4 part; Teredo does not, since its
// IPv4 address is inverted.
//
// Memory: eight bytes a node, and the data section. Deterministic for a table.

import type { Day } from '../base/day.ts'
import { type IpriskError, inputError } from '../base/coded-error.ts'
import { splitRange } from '../ip/prefix-split.ts'
import type { DatabaseLayout } from './mmdb-records.ts'
import type { ExportFile } from './export-file.ts'
import {
  type MmdbData,
  type MmdbValue,
  encodeAlone,
  map,
  newMmdbData,
  uint,
  uint16,
} from './mmdb-encoding.ts'
import { dataBytesMax, dataRecord, emptyRecord, newMmdbTree, recordInFile } from './mmdb-tree.ts'
import type { RunSink } from './value-runs.ts'
import type { ExportValues } from './export-values.ts'

/** ::/96 is the root of IPv4, also for the aliases. */
const ipv4Bits = 96
const ipv4Root = Uint32Array.of(0, 0, 0, 0)
const aliases: readonly (readonly [address: Uint32Array, length: number])[] = [
  [Uint32Array.of(0, 0, 0xffff, 0), 96],
  [Uint32Array.of(0x0064_ff9b, 0, 0, 0), 96],
  [Uint32Array.of(0x2002_0000, 0, 0, 0), 16],
]

/** The first IPv6 address after ::/96. */
const aboveIpv4 = Uint32Array.of(0, 0, 1, 0)

interface DatabaseAbout {
  readonly description: string
  readonly asOf: Day
}

export function newDatabaseWriter(layout: DatabaseLayout, book: ExportValues) {
  const tree = newMmdbTree()
  const data = newMmdbData()
  const offsetOf = recordOffsets(layout, book, data)
  let prefixes = 0
  const run: RunSink['run'] = (first, last, value, family) => {
    const record = dataRecord(offsetOf(value))
    const isBelow = family === 6 && first[0] === 0 && first[1] === 0 && first[2] === 0
    splitRange(isBelow ? aboveIpv4 : first, last, (address, length) => {
      prefixes++
      tree.put(address, length, record)
    })
  }
  return {
    run,
    finish: (file: ExportFile, about: DatabaseAbout): number => {
      const root = tree.recordAt(ipv4Root, ipv4Bits)
      if (root !== emptyRecord) for (const [at, length] of aliases) tree.put(at, length, root)
      const nodeCount = tree.nodeCount()
      const most = nodeCount + separatorBytes + data.bytes().length
      const recordBits = ([24, 28, 32] as const).find((bits) => most < 2 ** bits)
      if (recordBits === undefined) throw tooLarge()
      writeTree(file, tree.records(), nodeCount, recordBits)
      file.bytes(new Uint8Array(separatorBytes))
      file.bytes(data.bytes())
      file.bytes(markerBytes)
      file.bytes(metadataBytes(layout, about, nodeCount, recordBits))
      return prefixes
    },
  }
}

function recordOffsets(
  layout: DatabaseLayout,
  book: ExportValues,
  data: MmdbData,
): (value: number) => number {
  const offsets: number[] = []
  /** Keyed by member and its key. */
  const shared = layout.members.map(() => new Map<number | string, MmdbValue | undefined>())
  const memberOf = (value: number, part: unknown, index: number): MmdbValue | undefined => {
    const { key: keyOf, of, part: name } = layout.members[index]!
    const known = shared[index]!
    const key = keyOf === undefined ? book.partKey(value, name) : keyOf(part as never)
    if (known.has(key)) return known.get(key)
    const said = of(part as never)
    // Maps and lists are written once and pointed to.
    const isShared = typeof said === 'object' && !('value' in said)
    const kept = isShared ? ({ kind: 'at', offset: data.add(said) } as const) : said
    known.set(key, kept)
    return kept
  }
  return (value) => {
    let offset = offsets[value]
    if (offset === undefined) {
      const parts = book.parts(value)
      const members = layout.members.flatMap(({ name, part }, index) => {
        const said = parts[part] && memberOf(value, parts[part], index)
        return said === undefined ? [] : [[name, said] as const]
      })
      offset = data.add(map(members))
      if (offset > dataBytesMax) throw tooLarge()
      offsets[value] = offset
    }
    return offset
  }
}

const markerBytes = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const separatorBytes = 16

const nodesAtOnce = 1 << 16

function writeTree(
  file: ExportFile,
  records: Uint32Array,
  nodeCount: number,
  recordBits: 24 | 28 | 32,
): void {
  const nodeBytes = recordBits / 4
  const bytes = Buffer.allocUnsafe(nodesAtOnce * nodeBytes)
  for (let from = 0; from < nodeCount; from += nodesAtOnce) {
    const to = Math.min(nodeCount, from + nodesAtOnce)
    let at = 0
    for (let node = from; node < to; node++, at += nodeBytes) {
      const left = recordInFile(records[node * 2]!, nodeCount)
      const right = recordInFile(records[node * 2 + 1]!, nodeCount)
      writeNode(bytes, at, left, right, recordBits)
    }
    file.bytes(bytes.subarray(0, at))
  }
}

/** With 28 bits, the middle byte holds the upper nibbles of both records. */
function writeNode(
  bytes: Buffer,
  at: number,
  left: number,
  right: number,
  recordBits: 24 | 28 | 32,
): void {
  if (recordBits === 32) {
    bytes.writeUInt32BE(left, at)
    bytes.writeUInt32BE(right, at + 4)
    return
  }
  bytes.writeUIntBE(left & 0xff_ffff, at, 3)
  if (recordBits === 24) {
    bytes.writeUIntBE(right, at + 3, 3)
    return
  }
  bytes[at + 3] = ((left >>> 20) & 0xf0) | (right >>> 24)
  bytes.writeUIntBE(right & 0xff_ffff, at + 4, 3)
}

const daySeconds = 86_400

function metadataBytes(
  { databaseType }: DatabaseLayout,
  { description, asOf }: DatabaseAbout,
  nodeCount: number,
  recordBits: number,
): Uint8Array {
  return encodeAlone(
    map([
      ['binary_format_major_version', uint16(2)],
      ['binary_format_minor_version', uint16(0)],
      ['database_type', databaseType],
      ['description', map([['en', description]])],
      ['ip_version', uint16(6)],
      ['languages', ['en']],
      ['node_count', uint(nodeCount)],
      ['record_size', uint16(recordBits)],
      ['build_epoch', { kind: 'uint64', value: asOf * daySeconds }],
    ]),
  )
}

function tooLarge(): IpriskError {
  return inputError(
    'export_too_large',
    'The export has more than an MMDB file can hold. Narrow it with --where or --fields.',
  )
}
