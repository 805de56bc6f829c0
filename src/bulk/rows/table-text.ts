// Texts of the table in rows and lines: a text that is shown as the table has it is copied from
// there, which is known of each text after its first use.

import { runElementBytes } from '../../schema/table-layout.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'
import type { Strings } from '../../table/file/string-section.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { appendText, appendView } from '../output-buffer.ts'

export interface TableTexts {
  readonly strings: Strings
  /** How a text is shown. */
  readonly show: (text: string) => string
  readonly offsets: Uint32Array
  readonly source: DataView
  /** Of each string: 1 where it is shown as it is; 0 where that is not known, or not so. */
  readonly verbatim: Uint8Array
}

export function openTableTexts(
  { views, strings }: AnswerReader,
  show: (text: string) => string,
): TableTexts {
  const { string_offsets: offsets, string_bytes: bytes } = views
  // Longer than the section, for `appendView` also reads a few bytes behind a text.
  const rest = bytes.buffer.byteLength - bytes.byteOffset
  const length = Math.min(bytes.length + runElementBytes, rest)
  const source = new DataView(bytes.buffer, bytes.byteOffset, length)
  return { strings, show, offsets, source, verbatim: new Uint8Array(offsets.length) }
}

/** Hot where it is shown as it is: no allocation. */
export function appendString(buffer: GrowingBuffer, texts: TableTexts, id: number): void {
  const { verbatim, source, offsets } = texts
  if (verbatim[id] === 1) appendView(buffer, source, offsets[id]!, offsets[id + 1]!)
  else appendShown(buffer, texts, id)
}

function appendShown(
  buffer: GrowingBuffer,
  { strings, show, offsets, source, verbatim }: TableTexts,
  id: number,
): void {
  const text = strings.text(id)
  const shown = show(text)
  appendText(buffer, shown)
  const from = offsets[id] ?? 0
  const to = offsets[id + 1] ?? 0
  const isSound = from <= to && to + runElementBytes <= source.byteLength
  if (shown === text && isSound) verbatim[id] = 1
}
