// A look at an LMDB data file before lmdb maps it. lmdb's native part does not check: it ends the
// whole process with SIGSEGV or SIGBUS on a file that is not its own or that was cut off. This
// finds foreign files and grossly cut ones. Not found: damage inside a page, and a missing tail
// that the roots do not lie in.
//
//   a meta page, twice: pages 0 and 1        byte of the page
//     magic 0xbeefc0de, data version 2       24, 28
//     page size                              48
//     root of the free list, of the data     88, 136     (all ones: empty)
//     transaction                            152         (the higher one is current)
//
// The layout is that of the LMDB which lmdb 3.5 carries (little-endian); a test opens real files.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const metaBytes = 160
const magic = 0xbeefc0de
const dataVersion = 2
const noPage = 0xffff_ffff_ffff_ffffn

/** What one meta page says, or what is wrong with it. */
function readMeta(
  page: Buffer,
  name: string,
):
  | string
  | {
      readonly pageBytes: number
      readonly roots: readonly bigint[]
      readonly transaction: bigint
    } {
  if (page.length < metaBytes) return `it ends inside its ${name} page`
  if (page.readUInt32LE(24) !== magic) return `its ${name} page is not LMDB's`
  const version = page.readUInt32LE(28)
  if (version !== dataVersion) return `its LMDB version is ${version}, not ${dataVersion}`
  return {
    pageBytes: page.readUInt32LE(48),
    roots: [page.readBigUInt64LE(88), page.readBigUInt64LE(136)],
    transaction: page.readBigUInt64LE(152),
  }
}

function readAt(file: number, offset: number): Buffer {
  const buffer = Buffer.alloc(metaBytes)
  return buffer.subarray(0, readSync(file, buffer, 0, metaBytes, offset))
}

/** What is wrong with the data file at `path`; `undefined` where lmdb may open it. */
export function checkLmdbHeader(path: string): string | undefined {
  const file = openSync(path, 'r')
  try {
    // A process that is just making the store has the file before it has the pages.
    if (fstatSync(file).size === 0) return undefined
    const first = readMeta(readAt(file, 0), 'first')
    if (typeof first === 'string') return first
    const second = readMeta(readAt(file, first.pageBytes), 'second')
    if (typeof second === 'string') return second
    const current = first.transaction > second.transaction ? first : second
    // The size is read last: another process may be adding pages.
    const pages = BigInt(Math.floor(fstatSync(file).size / first.pageBytes))
    for (const root of current.roots) {
      if (root !== noPage && root >= pages) {
        return `it is cut off: it has ${pages} pages and needs page ${root}`
      }
    }
    return undefined
  } finally {
    closeSync(file)
  }
}
