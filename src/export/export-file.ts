// An export's file: written in pieces of a megabyte under a temporary name, so it is there whole or
// not at all (base/system/atomic-file.ts). A killed run leaves `.NAME.<process>.<id>.tmp`.

import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { type Replacement, beginReplacing } from '../base/system/atomic-file.ts'
import { formatAddressBytes, formatIpv4Bytes } from '../ip/format-address-bytes.ts'
import type { Family } from '../ip/address.ts'

export interface ExportFile {
  /** The temporary file. */
  readonly path: string
  readonly text: (text: string) => void
  readonly bytes: (bytes: Uint8Array) => void
  /** Appends its canonical text. */
  readonly address: (words: Uint32Array, family: Family) => void
  readonly flush: () => void
  readonly commit: () => void
  readonly discard: () => void
}

const pieceBytes = 1 << 20
const addressBytesMax = 39
const exportMode = 0o644

export function openExportFile(target: string): ExportFile {
  const { replacement, descriptor } = openNew(target)
  const piece = Buffer.allocUnsafe(pieceBytes)
  let used = 0
  let written = 0
  let open = true
  const flush = (): void => {
    writeAll(descriptor, piece.subarray(0, used), written)
    written += used
    used = 0
  }
  const reserve = (bytes: number): void => {
    if (used + bytes > pieceBytes) flush()
  }
  const close = (): void => {
    if (open) closeSync(descriptor)
    open = false
  }
  return {
    path: replacement.temporary,
    text: (text) => {
      // A UTF-16 unit has at most three bytes.
      if (text.length * 3 > pieceBytes) {
        flush()
        const bytes = Buffer.from(text)
        writeAll(descriptor, bytes, written)
        written += bytes.length
        return
      }
      reserve(text.length * 3)
      used += piece.write(text, used)
    },
    bytes: (bytes) => {
      for (let from = 0; from < bytes.length;) {
        reserve(1)
        const some = bytes.subarray(from, from + pieceBytes - used)
        piece.set(some, used)
        used += some.length
        from += some.length
      }
    },
    address: (words, family) => {
      reserve(addressBytesMax)
      used =
        family === 4
          ? formatIpv4Bytes(words[3]!, piece, used)
          : formatAddressBytes(words, piece, used)
    },
    flush,
    commit: () => {
      flush()
      close()
      replacement.commitSync()
    },
    discard: () => {
      close()
      replacement.discard()
    },
  }
}

function openNew(target: string): {
  readonly replacement: Replacement
  readonly descriptor: number
} {
  try {
    const replacement = beginReplacing(target, exportMode)
    return { replacement, descriptor: openSync(replacement.temporary, 'wx', exportMode) }
  } catch (cause) {
    throw new IpriskError({
      code: 'export_unwritable',
      message: `No file can be made in ${dirname(target)}: ${messageOf(cause)}.`,
      fault: 'environment',
      cause,
    })
  }
}

/** A system call may take less than it is given. */
function writeAll(descriptor: number, bytes: Uint8Array, offset: number): void {
  for (let from = 0; from < bytes.length;) {
    from += writeSync(descriptor, bytes, from, bytes.length - from, offset + from)
  }
}
