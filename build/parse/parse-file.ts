// Streams a snapshot, plain or gzip (by its first bytes), through its format's parser, and adds the
// path to every error.

import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { IpriskError, messageOf, inputError } from '../../src/base/coded-error.ts'
import { formatCount } from '../../src/base/text/number-format.ts'
import type { FormatOptions, EntrySink } from './entry.ts'
import { formatOf } from './formats.ts'

export interface FileToParse {
  readonly path: string
  readonly format: string
  readonly options?: FormatOptions | undefined
  /** Limits the unpacked content: a gzip of a few KiB can hold a disk full of zeros. */
  readonly bytesMax: number
}

const chunkBytes = 1 << 18

/**
 * Throws `snapshot_unreadable` if the file cannot be opened or unpacked, `snapshot_too_large` above
 * `bytesMax`, and the parser's `not_this_format`; the sink's content is then invalid.
 */
export async function parseFile(file: FileToParse, sink: EntrySink): Promise<void> {
  const format = formatOf(file.format)
  try {
    const handle = await open(file.path, 'r')
    try {
      await format.parse(limited(bytesOf(handle), file.bytesMax), sink, file.options ?? {})
    } finally {
      await handle.close()
    }
  } catch (thrown) {
    throw new IpriskError({
      code: thrown instanceof IpriskError ? thrown.code : 'snapshot_unreadable',
      message: `${file.path}: ${messageOf(thrown)}`,
      fault: thrown instanceof IpriskError ? thrown.fault : 'environment',
      cause: thrown,
    })
  }
}

function bytesOf(handle: FileHandle): AsyncIterable<Uint8Array> {
  const magic = new Uint8Array(2)
  const bytesRead = readSync(handle.fd, magic, 0, 2, 0)
  const plain = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: chunkBytes })
  if (bytesRead < 2 || magic[0] !== 0x1f || magic[1] !== 0x8b) return plain
  const gunzip = createGunzip()
  plain.on('error', (error) => gunzip.destroy(error))
  return plain.pipe(gunzip)
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncIterable<Uint8Array> {
  let byteCount = 0
  for await (const chunk of chunks) {
    byteCount += chunk.length
    if (byteCount > bytesMax) {
      throw inputError(
        'snapshot_too_large',
        `unpacks to more than ${formatCount(bytesMax)} bytes, the limit for this file. Inspect it ` +
          'before you unpack it (gzip -l, zcat | head), then replace it with a valid file.',
      )
    }
    yield chunk
  }
}
