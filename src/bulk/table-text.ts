// Texts of the table in rows and lines: copied as the table has them where they stand there as they
// are to be shown, which is known of each after its first use.

import { runElementBytes } from '../schema/table-layout.ts'
import type { Reader } from '../table/answer/answer-reader.ts'
import type { Strings } from '../table/file/string-section.ts'
import type { Room } from './growing-buffer.ts'
import { stageText, stageView } from './output-buffer.ts'

export interface Texts {
  readonly strings: Strings
  /** How a text is shown. */
  readonly show: (text: string) => string
  readonly offsets: Uint32Array
  readonly source: DataView
  /** Of each string: 1 where it is shown as it is; 0 where that is not known, or not so. */
  readonly same: Uint8Array
}

export function openTexts({ views, strings }: Reader, show: (text: string) => string): Texts {
  const { string_offsets: offsets, string_bytes: bytes } = views
  // Longer than the section: what lies behind it in the file may be read, and counts for nothing.
  const rest = bytes.buffer.byteLength - bytes.byteOffset
  const length = Math.min(bytes.length + runElementBytes, rest)
  const source = new DataView(bytes.buffer, bytes.byteOffset, length)
  return { strings, show, offsets, source, same: new Uint8Array(offsets.length) }
}

/** Hot where it is shown as it is: no allocation. */
export function stageString(room: Room, texts: Texts, id: number): void {
  const { same, source, offsets } = texts
  if (same[id] === 1) stageView(room, source, offsets[id]!, offsets[id + 1]!)
  else stageShown(room, texts, id)
}

function stageShown(room: Room, { strings, show, offsets, source, same }: Texts, id: number): void {
  const text = strings.text(id)
  const shown = show(text)
  stageText(room, shown)
  const from = offsets[id] ?? 0
  const to = offsets[id + 1] ?? 0
  const isSound = from <= to && to + runElementBytes <= source.byteLength
  if (shown === text && isSound) same[id] = 1
}
