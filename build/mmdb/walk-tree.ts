// Hot within the build: from an MMDB search tree to layers. Walks the leaves in address order
// without recursion, calls `idOf` once per distinct record, merges equal neighbours.
//
// An ip_version 4 tree gives only the IPv4 layer. In an ip_version 6 tree, IPv4 is at ::/96 and
// often repeated at 2002::/16, 2001::/32 and ::ffff:0:0/96 (aliases of the same node), which the
// IPv6 layer leaves out; it covers 2000::/3.
//
// Damage throws `mmdb_invalid`, never loops: path lengths and numbers of visits are limited.

import { IpriskError } from '../../src/base/coded-error.ts'
import type { Family } from '../../src/ip/address.ts'
import { newTupleInterner } from '../layer/intern.ts'
import { type Layer, type LayerPieces, newLayerPieces } from '../layer/layer.ts'
import { mmdbError, newRecordReader } from './decode-record.ts'
import { type MmdbFile, separatorBytes } from './mmdb-file.ts'

export interface MmdbWalk {
  /** `6` is undefined for an IPv4 tree. A family without records is one piece of 0. */
  readonly layers: { readonly 4: Layer; readonly 6: Layer | undefined }
  readonly recordCount: number
}

/** Writers may share equal subtrees; a loop exceeds this. */
const visitsPerNode = 4
const visitsAtLeast = 256
/** The bits of ::/96. */
const ipv4Prefix = Array.from({ length: 96 }, (): 0 => 0)

interface Tree {
  readonly file: MmdbFile
  readonly records: Uint32Array
  /** The root of IPv4 in an IPv6 tree, or -1. */
  readonly aliased: number
  /** A data record's value, by its offset in the data section. */
  readonly valueAt: (offset: number) => number
}

/**
 * `idOf` maps a decoded record to an id from 1, or 0 for "nothing here"; it is called once per
 * distinct record, IPv4 first. Throws `mmdb_invalid`, and the errors of `idOf` with path and byte.
 */
export function walkMmdb(options: {
  readonly file: MmdbFile
  readonly idOf: (record: unknown) => number
}): MmdbWalk {
  const { file, idOf } = options
  const records = unpackTree(file)
  const offsets = newTupleInterner()
  const ids: number[] = []
  const idAt = newIdReader(file, idOf)
  const isIpv6 = file.ipVersion === 6
  const ipv4Root = isIpv6 ? descend(records, file.nodeCount, ipv4Prefix) : 0
  const tree: Tree = {
    file,
    records,
    aliased: isIpv6 && ipv4Root < file.nodeCount ? ipv4Root : -1,
    valueAt: (offset) => (ids[offsets.id(offset, 0, 0, 0)] ??= idAt(offset)),
  }

  const ipv4 = newLayerPieces(4)
  walkLeaves({ tree, family: 4, root: ipv4Root, depth: 0, pieces: ipv4 })
  const ipv6 = isIpv6 ? newLayerPieces(6) : undefined
  if (ipv6 !== undefined) {
    ipv6.add(Uint32Array.of(0, 0, 0, 0), 0)
    const root = descend(records, file.nodeCount, [0, 0, 1])
    walkLeaves({ tree, family: 6, root, depth: 3, pieces: ipv6 })
    ipv6.add(Uint32Array.of(0x4000_0000, 0, 0, 0), 0)
  }
  return { layers: { 4: ipv4.layer(), 6: ipv6?.layer() }, recordCount: offsets.count }
}

/** Stops at a record that is not a node. */
function descend(records: Uint32Array, nodeCount: number, bits: readonly (0 | 1)[]): number {
  let record = 0
  for (const bit of bits) {
    if (record >= nodeCount) break
    record = records[record * 2 + bit]!
  }
  return record
}

/**
 * Adds the leaves under `root` at `depth` bits: 0 in IPv4, 2000::/3 in IPv6. The stack holds
 * unvisited right siblings; `path` is the leaf's address, with zero bits below the depth.
 */
function walkLeaves(options: {
  readonly tree: Tree
  readonly family: Family
  readonly root: number
  readonly depth: 0 | 3
  readonly pieces: LayerPieces
}): void {
  const { tree, family, pieces } = options
  const { records, aliased, valueAt } = tree
  const { nodeCount } = tree.file
  const bits = family === 4 ? 32 : 128
  const path = new Uint32Array(family === 4 ? 1 : 4)
  if (options.depth === 3) path[0] = 0x2000_0000
  const waiting = new Uint32Array(bits + 1)
  const waitingDepth = new Uint8Array(bits + 1)
  const dataFrom = nodeCount + separatorBytes
  let visitsLeft = visitsPerNode * nodeCount + visitsAtLeast
  let waitingCount = 0
  let record = options.root
  let depth: number = options.depth

  for (;;) {
    // Down the left side, stacking right siblings.
    while (record < nodeCount && record !== (family === 6 ? aliased : -1)) {
      if (depth === bits) throw loopError(tree.file, record, `lies deeper than ${bits} bits`)
      if (visitsLeft-- === 0) throw loopError(tree.file, record, 'is visited repeatedly')
      depth++
      waiting[waitingCount] = records[record * 2 + 1]!
      waitingDepth[waitingCount++] = depth
      record = records[record * 2]!
    }
    pieces.add(path, record <= nodeCount ? 0 : valueAt(record - dataFrom))
    if (waitingCount === 0) return
    // The nearest right sibling: set its bit, clear all bits below.
    record = waiting[--waitingCount]!
    depth = waitingDepth[waitingCount]!
    const word = (depth - 1) >> 5
    const bit = 1 << (31 - ((depth - 1) & 31))
    path[word] = (path[word]! & ~(bit | (bit - 1))) | bit
    for (let below = word + 1; below < path.length; below++) path[below] = 0
  }
}

function loopError({ path, recordBits }: MmdbFile, node: number, what: string): IpriskError {
  const problem = `the search tree loops or shares its nodes without end: node ${node} ${what}`
  return mmdbError({ path, offset: (node * recordBits) / 4, problem })
}

function newIdReader(
  { path, bytes, dataStart, dataEnd }: MmdbFile,
  idOf: (record: unknown) => number,
): (offset: number) => number {
  const read = newRecordReader({ path, bytes, start: dataStart, end: dataEnd })
  return (offset) => {
    if (offset < 0 || offset >= dataEnd - dataStart) {
      const problem = `the search tree points there, outside the data records (${dataStart} to ${dataEnd})`
      throw mmdbError({ path, offset: dataStart + offset, problem })
    }
    const record = read(offset)
    try {
      return idOf(record)
    } catch (error) {
      if (!(error instanceof IpriskError)) throw error
      const message = `${path}: byte ${dataStart + offset}: ${error.message}`
      throw new IpriskError({ code: error.code, message, fault: error.fault, cause: error })
    }
  }
}

// The search tree unpacked: node n's left record at 2n, its right record at 2n + 1, so one walk
// serves all record sizes. Records are not checked here.
//
//   24 bits   LLLLLL RRRRRR                 3 + 3 bytes
//   28 bits   LLLLLL lr RRRRRR              l: high half-byte of the left, r: of the right
//   32 bits   LLLLLLLL RRRRRRRR             4 + 4 bytes

/** A record below `nodeCount` is a node, equal to it nothing, above it data. */
export function unpackTree(file: MmdbFile): Uint32Array {
  const records = new Uint32Array(file.nodeCount * 2)
  const unpack = { 24: unpack24, 28: unpack28, 32: unpack32 }[file.recordBits]
  unpack(file.bytes, records)
  return records
}

// `!` is safe in all three: parseMmdb has checked the tree's length.

function unpack24(bytes: Uint8Array, records: Uint32Array): void {
  for (let i = 0, at = 0; i < records.length; i++, at += 3) {
    records[i] = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
  }
}

function unpack28(bytes: Uint8Array, records: Uint32Array): void {
  for (let i = 0, at = 0; i < records.length; i += 2, at += 7) {
    const middle = bytes[at + 3]!
    records[i] =
      ((middle & 0xf0) << 20) | (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    records[i + 1] =
      ((middle & 0x0f) << 24) | (bytes[at + 4]! << 16) | (bytes[at + 5]! << 8) | bytes[at + 6]!
  }
}

function unpack32(bytes: Uint8Array, records: Uint32Array): void {
  for (let i = 0, at = 0; i < records.length; i++, at += 4) {
    records[i] =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
}
