// An MMDB file in memory: where its search tree and data records lie (MaxMind DB 2.0).
//
//   search tree          16 zero bytes   data records     marker            metadata
//   ├─ treeBytes ──────┤                 ├─ dataBytes ──┤ \xab\xcd\xefMaxMind.com
//   0                  treeBytes         dataStart      dataEnd
//
// Invariants: 0 < treeBytes < dataStart = treeBytes + 16 <= dataEnd <= bytes.length.

import { constants } from 'node:buffer'
import { dayOf } from '../../src/base/day.ts'
import { type IpriskError, messageOf, environmentError } from '../../src/base/coded-error.ts'
import { readBoundedFile } from '../../src/base/system/bounded-file.ts'
import { mmdbError, newRecordReader } from './decode-record.ts'

export type MmdbFile = ReturnType<typeof parseMmdb>

const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
/** The format puts the metadata within the last 128 KiB. */
const metadataBytesMax = 131_072
/** Zero bytes between the tree and the data records. */
export const separatorBytes = 16

/** Throws `mmdb_unreadable` or `mmdb_invalid`. */
export function openMmdb(path: string): MmdbFile {
  let bytes: Buffer
  try {
    bytes = readBoundedFile(path, { bytesMax: constants.MAX_LENGTH }).bytes
  } catch (error) {
    throw environmentError(
      'mmdb_unreadable',
      `${path}: ${messageOf(error)}. Check the path and its permissions.`,
      { cause: error },
    )
  }
  return parseMmdb(path, bytes)
}

/** `path` is only for errors. */
export function parseMmdb(path: string, bytes: Buffer) {
  const tailStart = Math.max(0, bytes.length - metadataBytesMax)
  const markerAt = bytes.subarray(tailStart).lastIndexOf(marker)
  if (markerAt === -1) {
    throw mmdbError({ path, offset: bytes.length, problem: 'there is no MMDB metadata marker' })
  }
  const dataEnd = tailStart + markerAt
  const metadataStart = dataEnd + marker.length
  const found = newRecordReader({ path, bytes, start: metadataStart, end: bytes.length })(0)
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    throw mmdbError({ path, offset: metadataStart, problem: 'the metadata is not a map' })
  }
  const metadata = found as Readonly<Record<string, unknown>>
  const fail = (problem: string): IpriskError =>
    mmdbError({ path, offset: metadataStart, problem: `the metadata's ${problem}` })

  const version = metadata['binary_format_major_version']
  if (version !== 2) throw fail(`binary_format_major_version is ${show(version)}, not 2`)
  const ipVersion = metadata['ip_version']
  if (ipVersion !== 4 && ipVersion !== 6) throw fail(`ip_version is ${show(ipVersion)}`)
  const recordBits = metadata['record_size']
  if (recordBits !== 24 && recordBits !== 28 && recordBits !== 32) {
    throw fail(`record_size is ${show(recordBits)}, not 24, 28 or 32`)
  }
  const nodeCount = metadata['node_count']
  if (typeof nodeCount !== 'number' || !Number.isInteger(nodeCount) || nodeCount < 1) {
    throw fail(`node_count is ${show(nodeCount)}`)
  }
  const treeBytes = (nodeCount * recordBits) / 4
  const dataStart = treeBytes + separatorBytes
  if (dataStart > dataEnd) {
    throw fail(`node_count is ${nodeCount}: the tree would end at byte ${dataStart} of ${dataEnd}`)
  }
  if (bytes.subarray(treeBytes, dataStart).some((byte) => byte !== 0)) {
    throw mmdbError({ path, offset: treeBytes, problem: 'the tree is not followed by zero bytes' })
  }
  const epoch = Number(metadata['build_epoch'])
  const day = dayOf(epoch * 1000)
  // The years that formatDay can write, 1970 to 9999.
  if (!(epoch >= 0 && epoch < 253_402_300_800)) {
    throw fail(`build_epoch is ${show(metadata['build_epoch'])}`)
  }
  const type = metadata['database_type']
  const databaseType = typeof type === 'string' ? type : ''
  return {
    path,
    bytes,
    ipVersion,
    /** Bits of one record; a node has two. */
    recordBits,
    nodeCount,
    /** Byte positions; `dataEnd` is exclusive. */
    dataStart,
    dataEnd,
    databaseType,
    day,
  } as const
}

function show(value: unknown): string {
  if (value === undefined) return 'missing'
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? `${member}` : member,
  ).slice(0, 60)
}
