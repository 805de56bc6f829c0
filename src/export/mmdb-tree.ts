// The search tree of an MMDB file in memory: eight bytes a node, two records each. Prefixes come in
// any order; ascending order is fast, since the last path is kept.
//
//   record   0 … 2^31 - 1      a node's number
//            2^31 + offset     data, at an offset of the data section
//            empty             no data
//
// Invariants: path[d] is the node at depth d on the way to the last prefix, for d < its length.
// Overlapping prefixes are a bug of the caller, and throw.

import { newAddressWords } from '../ip/address.ts'
import { assert } from '../base/assert.ts'
import { bitAt, sharedBits } from '../ip/prefix-split.ts'

export const emptyRecord = 0xffff_ffff
const dataFlag = 0x8000_0000

export const dataBytesMax = dataFlag - 2

export const dataRecord = (offset: number): number => dataFlag + offset

export function recordInFile(record: number, nodeCount: number): number {
  if (record === emptyRecord) return nodeCount
  return record >= dataFlag ? nodeCount + 16 + (record - dataFlag) : record
}

const firstNodes = 1 << 16

export function newMmdbTree() {
  let records = new Uint32Array(firstNodes * 2).fill(emptyRecord)
  let nodes = 1
  const path = new Uint32Array(128)
  const before = newAddressWords()
  let beforeLength = 0

  const newNode = (): number => {
    if (nodes * 2 === records.length) {
      const larger = new Uint32Array(records.length * 2).fill(emptyRecord, records.length)
      larger.set(records)
      records = larger
    }
    return nodes++
  }

  return {
    nodeCount: (): number => nodes,
    records: (): Uint32Array => records.subarray(0, nodes * 2),
    /** `length` is at least 1. */
    put(address: Uint32Array, length: number, record: number): void {
      let depth = Math.min(sharedBits(before, address), Math.max(0, beforeLength - 1), length - 1)
      for (; depth < length - 1; depth++) {
        const slot = path[depth]! * 2 + bitAt(address, depth)
        let next = records[slot]!
        if (next === emptyRecord) {
          next = newNode()
          records[slot] = next
        }
        assert(next < dataFlag, 'a prefix lies within another one')
        path[depth + 1] = next
      }
      const slot = path[depth]! * 2 + bitAt(address, depth)
      assert(records[slot] === emptyRecord, 'a prefix holds another one')
      records[slot] = record
      before.set(address)
      beforeLength = length
    },
    recordAt(address: Uint32Array, length: number): number {
      let record = 0
      for (let depth = 0; depth < length && record < dataFlag; depth++) {
        record = records[record * 2 + bitAt(address, depth)]!
      }
      return record
    },
  }
}
