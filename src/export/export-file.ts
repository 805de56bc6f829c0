// An export's file: written in pieces of a megabyte under a temporary name, so that it appears
// whole or not at all (base/system/atomic-file.ts). A killed run leaves `.NAME.<process>.<id>.tmp`.

import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { environmentError, messageOf } from '../base/coded-error.ts'
import { beginReplacing } from '../base/system/atomic-file.ts'
import { formatAddressBytes, formatIpv4Bytes } from '../ip/format-address-bytes.ts'
import type { Family } from '../ip/address.ts'

const pieceBytes = 1 << 20
const addressBytesMax = 39
const exportMode = 0o644

export type ExportFile = ReturnType<typeof openExportFile>

/** Throws `export_unwritable`. */
export function openExportFile(target: string) {
  const { replacement, descriptor } = openNew(target)
  const piece = Buffer.allocUnsafe(pieceBytes)
  let used = 0
  let open = true
  const flush = (): void => {
    writeFileSync(descriptor, piece.subarray(0, used))
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
    text: (text: string): void => {
      // A UTF-16 unit has at most three bytes.
      const bytesMax = text.length * 3
      reserve(bytesMax)
      if (bytesMax > pieceBytes) writeFileSync(descriptor, text)
      else used += piece.write(text, used)
    },
    bytes: (bytes: Uint8Array): void => {
      flush()
      writeFileSync(descriptor, bytes)
    },
    address: (words: Uint32Array, family: Family): void => {
      reserve(addressBytesMax)
      used =
        family === 4
          ? formatIpv4Bytes(words[3]!, piece, used)
          : formatAddressBytes(words, piece, used)
    },
    flush,
    commit: (): void => {
      flush()
      close()
      replacement.commitSync()
    },
    discard: (): void => {
      close()
      replacement.discard()
    },
  }
}

function openNew(target: string) {
  try {
    const replacement = beginReplacing(target, exportMode)
    return { replacement, descriptor: openSync(replacement.temporary, 'wx', exportMode) }
  } catch (cause) {
    const message = `Cannot create a file in ${dirname(target)}: ${messageOf(cause)}.`
    throw environmentError('export_unwritable', message, { cause })
  }
}
