// A table file as one piece of memory.

import { type TableContent, encodeTable } from '../../build/write/write-table.ts'

export function encodedTable(content: TableContent): { readonly id: string; bytes: Uint8Array } {
  const { id, parts } = encodeTable(content)
  return { id, bytes: new Uint8Array(Buffer.concat(parts)) }
}
