// Hot within the build: the search tree of an MMDB file as one Uint32Array, node n's left record at
// 2n and its right record at 2n + 1. Unpacking first costs 8 bytes a node and a pass in memory
// order, and lets one walk serve all record sizes: the branch on the size stays out of every loop.
// Not a check: a record may say anything; walk-tree.ts judges it.
//
//   24 bits   LLLLLL RRRRRR                 3 + 3 bytes
//   28 bits   LLLLLL lr RRRRRR              l: high half-byte of the left, r: of the right
//   32 bits   LLLLLLLL RRRRRRRR             4 + 4 bytes

import type { MmdbFile } from './mmdb-file.ts'

/** Unpacks all nodes. A record below `nodeCount` is a node, equal to it nothing, above it data. */
export function unpackTree(file: MmdbFile): Uint32Array {
  const records = new Uint32Array(file.nodeCount * 2)
  switch (file.recordBits) {
    case 24:
      unpack24(file.bytes, records)
      break
    case 28:
      unpack28(file.bytes, records)
      break
    case 32:
      unpack32(file.bytes, records)
      break
  }
  return records
}

// In all three `!` is safe: parseMmdb has checked that the tree lies within the bytes.

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
    // A Uint32Array takes the signed result as its unsigned value.
    records[i] =
      (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
}
