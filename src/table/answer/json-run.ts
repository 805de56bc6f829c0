// Runs of JSON that answers copy as they are, eight bytes at a time: the table's own, of a network,
// region or location (made by build/write/run-section.ts), and those that are made while serving
// (json-fragments.ts). src/schema/FORMAT.md draws them. Copying is answer-writer.ts's.

import { runElementBytes } from '../../schema/table-layout.ts'

/** A run that is not the table's. */
export interface JsonRun {
  /** The text, filled up with zeros. */
  readonly data: Float64Array
  readonly bytes: number
}

export function jsonRun(text: string): JsonRun {
  const bytes = Buffer.from(text, 'utf8')
  const data = new Float64Array(Math.ceil(bytes.length / runElementBytes))
  new Uint8Array(data.buffer).set(bytes)
  return { data, bytes: bytes.length }
}
