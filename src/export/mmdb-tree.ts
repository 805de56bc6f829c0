// The search tree of an MMDB file, in memory: eight bytes a node, two records each. Prefixes may
// come in any order, and come fast in ascending order: the path to the one before is kept.
//
//   record   0 … 2^31 - 1      the number of a node
//            2^31 + offset     data, at an offset of the data section
//            empty             nothing is known
//
// Invariant: path[d] is the node at depth d on the way to the prefix before, for d < its length.
// A prefix that covers or is covered by one that is there is a bug of the caller, and throws.

import { newAddressWords } from '../ip/address.ts'
import { assert } from '../base/assert.ts'
import { bitAt, sharedBits } from './address-space.ts'

export const emptyRecord = 0xffff_ffff
const dataFlag = 0x8000_0000

/** More data than this has no offset in a record. */
export const dataBytesMax = dataFlag - 2

export interface MmdbTree {
  readonly nodeCount: () => number
  /** Lets a prefix of at least one bit lead to a record. */
  readonly put: (address: Uint32Array, length: number, record: number) => void
  /** Where a prefix leads: a node, data, or nothing. */
  readonly recordAt: (address: Uint32Array, length: number) => number
  /** The records of all nodes, two each, node by node. */
  readonly records: () => Uint32Array
}

export function dataRecord(offset: number): number {
  return dataFlag + offset
}

/** Of a record what the file says, where it has so many nodes. The inverse of `dataRecord`. */
export function recordInFile(record: number, nodeCount: number): number {
  if (record === emptyRecord) return nodeCount
  return record >= dataFlag ? nodeCount + 16 + (record - dataFlag) : record
}

const firstNodes = 1 << 16

export function newMmdbTree(): MmdbTree {
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
    nodeCount: () => nodes,
    records: () => records.subarray(0, nodes * 2),
    put(address, length, record) {
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
    recordAt(address, length) {
      let record = 0
      for (let depth = 0; depth < length && record < dataFlag; depth++) {
        record = records[record * 2 + bitAt(address, depth)]!
      }
      return record
    },
  }
}
