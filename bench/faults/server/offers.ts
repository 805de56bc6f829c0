// What a proof puts at the place of a server's table: good tables of several days, and bad ones of
// every kind, each named. All are small (8 MB) and written once; putting one in place is a copy and
// a rename, as an operator would.

import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { writeTable } from '../../../build/write/write-table.ts'
import type { Day } from '../../../src/base/day.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { listed, smallContent } from '../../../test/table/small-table.ts'
import type { Random } from '../../harness/random.ts'

export interface OfferedTable {
  readonly kind: string
  /** The table's id, where it is a good one. */
  readonly id?: string
  /** Puts it at the path; what was there is gone. */
  readonly install: (path: string) => void
}

/** Beside the table's place, so that a rename can put it there. */
const beside = (path: string): string => `${path}.new`

function clear(path: string): void {
  rmSync(path, { force: true, recursive: true })
}

function putCopy(from: string, path: string): void {
  copyFileSync(from, beside(path))
  // A folder or a link may be in the way.
  clear(path)
  renameSync(beside(path), path)
}

function putBytes(bytes: Uint8Array, path: string): void {
  writeFileSync(beside(path), bytes)
  clear(path)
  renameSync(beside(path), path)
}

/** The same content as of `count` days, one after the other. */
export function goodTables(folder: string, count: number): readonly OfferedTable[] {
  return Array.from({ length: count }, (_, i): OfferedTable => {
    const content = smallContent()
    const file = join(folder, `good-${i}.iprisk`)
    writeTable(file, { ...content, asOf: (content.asOf + i) as Day })
    const table = openTable(file)
    const { id } = table
    table.close()
    return { kind: `good ${i}`, id, install: (path: string) => putCopy(file, path) }
  })
}

export function badTables(folder: string, random: Random): readonly OfferedTable[] {
  const good = join(folder, 'sound.iprisk')
  writeTable(good, smallContent())
  const bytes = readFileSync(good)
  const world = (name: string, entries: typeof listed): string => {
    const file = join(folder, `${name}.iprisk`)
    writeTable(file, smallContent(entries))
    return file
  }
  const canary = world('canary', [...listed, ['8.8.8.8', 'tor', '']])
  const absurd = world('absurd', [...listed, ['9.0.0.0/8', 'vpn', ''], ['12.0.0.0/8', 'proxy', '']])
  return [
    {
      kind: 'truncated',
      install: (path) => putBytes(bytes.subarray(0, random.below(bytes.length)), path),
    },
    {
      kind: 'flipped',
      install: (path) => {
        const changed = Buffer.from(bytes)
        changed[random.below(bytes.length)]! ^= 1 << random.below(8)
        putBytes(changed, path)
      },
    },
    {
      kind: 'wrong version',
      install: (path) => {
        const changed = Buffer.from(bytes)
        // src/table/file/trailer.ts: the format's major version.
        changed.writeUInt32LE(99, bytes.length - 12)
        putBytes(changed, path)
      },
    },
    { kind: 'missing', install: clear },
    { kind: 'empty', install: (path) => putBytes(new Uint8Array(0), path) },
    {
      kind: 'a page',
      install: (path) => putBytes(Buffer.from('<!doctype html>'.repeat(99)), path),
    },
    {
      kind: 'a folder',
      install: (path) => {
        clear(path)
        mkdirSync(path)
      },
    },
    {
      // Rights would not stop root; this stops everybody.
      kind: 'unreadable',
      install: (path) => {
        clear(path)
        symlinkSync(path, path)
      },
    },
    { kind: 'fails canaries', install: (path) => putCopy(canary, path) },
    { kind: 'absurd', install: (path) => putCopy(absurd, path) },
  ]
}
