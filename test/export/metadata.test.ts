// The metadata of an MMDB, byte by byte where readers insist: libmaxminddb takes versions, family
// and record size as uint16 alone, and the time of the build as uint64.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { exported } from './small-export.ts'

/** Of a member of the metadata the type that its control byte says. */
function typeOf(metadata: Buffer, key: string): number {
  const control = metadata.indexOf(key, 0, 'latin1') + key.length
  const type = metadata[control]! >>> 5
  return type === 0 ? metadata[control + 1]! + 7 : type
}

it('has the types that libmaxminddb asks for', async () => {
  const { path } = await exported({ format: 'mmdb' })
  const bytes = readFileSync(path)
  const marker = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
  const metadata = bytes.subarray(bytes.lastIndexOf(marker) + marker.length)
  const types = {
    binary_format_major_version: 5,
    binary_format_minor_version: 5,
    build_epoch: 9,
    database_type: 2,
    ip_version: 5,
    languages: 11,
    node_count: 6,
    record_size: 5,
  }
  const found = Object.keys(types).map((key) => [key, typeOf(metadata, key)])
  expect(Object.fromEntries(found)).toEqual(types)
})
