// The compiled lists: one file that every process of a server maps to read. Words of 32 bits, in
// the machine's order; a section begins at an even word.
//
//   header     magic, version, length in words, CRC-32 of all bytes but its own, then for each
//              section its first word and its length in words
//   names      JSON of [name, effect], in the order of the numbers that nodes have
//   starts4    where pieces of IPv4 begin, ascending, from 0; a piece ends where the next one begins
//   nodes4     of each piece the node of its most specific entry; 0 where nothing covers it
//   index4     buckets of addresses, each with the last piece that begins at or below it
//              (prefix-tree.ts)
//   starts6, nodes6, index6   the same of IPv6, four words a start
//   filter4, filter6, wide6   bits of prefixes of which something is covered (list-filter.ts)
//   asns       AS numbers, ascending;  nodesAs: the node of each
//   parents    of each node the next one that covers the same addresses, less specific; 0 at the end
//   owners     of each node its list's number
//   expiries   of each node the second since the epoch from which it does not count; 0 never
//   ranks      of each node the rank of its entry's size among all: the smaller, the more specific
//
// Every prefix that an entry comes to is a node, so nodes nest, and what covers an address is the
// path from its piece's node: at most 33 prefixes (IPv6: 129), each with the lists that name it.
// Nodes that say the same, with the same path, are one. Node 0 is none.

import { crc32 } from 'node:zlib'
import { environmentError } from '../../base/coded-error.ts'
import type { ListEffect } from '../../model/kind.ts'

export const sectionNames = [
  'names',
  'starts4',
  'nodes4',
  'index4',
  'starts6',
  'nodes6',
  'index6',
  'filter4',
  'filter6',
  'wide6',
  'asns',
  'nodesAs',
  'parents',
  'owners',
  'expiries',
  'ranks',
] as const
export type SectionName = (typeof sectionNames)[number]

const magic = 0x6c697374
const format = 3
const checksumWord = 3
const headerWords = 4 + sectionNames.length * 2

export type ListSections = Readonly<Record<SectionName, Uint32Array>>

export interface NamedList {
  readonly name: string
  readonly effect: ListEffect
}

export function encodeListFile(sections: ListSections): Uint8Array {
  const even = (words: number): number => words + (words & 1)
  let end = even(headerWords)
  const header: number[] = [magic, format, 0, 0]
  for (const name of sectionNames) {
    header.push(end, sections[name].length)
    end = even(end + sections[name].length)
  }
  header[2] = end
  const words = new Uint32Array(end)
  words.set(header)
  sectionNames.forEach((name, i) => words.set(sections[name], header[4 + i * 2]))
  const bytes = new Uint8Array(words.buffer)
  words[checksumWord] = checksumOf(bytes)
  return bytes
}

function checksumOf(bytes: Uint8Array): number {
  const from = checksumWord * 4
  return crc32(bytes.subarray(from + 4), crc32(bytes.subarray(0, from)))
}

/** Views of the bytes, all of which are checked. Throws `lists_corrupt`. */
export function decodeListFile(bytes: Uint8Array, path: string): ListSections {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
  const isWhole = words[0] === magic && words[1] === format && words[2] === words.length
  if (!isWhole || words[checksumWord] !== checksumOf(bytes)) {
    throw environmentError(
      'lists_corrupt',
      `${path} is damaged or was compiled by another version.`,
    )
  }
  const section = (i: number): Uint32Array => {
    const from = words[4 + i * 2]!
    return words.subarray(from, from + words[5 + i * 2]!)
  }
  return Object.fromEntries(sectionNames.map((name, i) => [name, section(i)])) as ListSections
}

/** JSON, filled up with spaces. */
export function encodeNames(lists: readonly NamedList[]): Uint32Array {
  const text = JSON.stringify(lists.map(({ name, effect }) => [name, effect]))
  const bytes = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(0x20)
  // Names and effects are ASCII.
  bytes.set(Buffer.from(text))
  return new Uint32Array(bytes.buffer)
}

export function decodeNames(words: Uint32Array): readonly NamedList[] {
  const text = Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString()
  const lists = JSON.parse(text) as readonly (readonly [string, ListEffect])[]
  return lists.map(([name, effect]) => ({ name, effect }))
}
