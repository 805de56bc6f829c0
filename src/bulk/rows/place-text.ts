// Hot path: what `openPlaceText` returns, but at the first use of a text that is not copied.
//
// Texts of a place in rows and lines. State, time zone and country are strings of the table. City
// and zip are in the JSON of the place's run: plain ASCII, as most are, is copied; texts that JSON
// or the row escapes are built at first use and cached.

import { runElementBytes } from '../../schema/table-layout.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'
import {
  locationTextAt,
  openPlaceString,
  readLocality,
  runBytes,
} from '../../table/file/location-record.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { appendSlice, appendText, appendView } from '../output-buffer.ts'
import { appendCached, newTextCache } from './text-cache.ts'

export const placeTexts = ['country_code', 'country', 'state', 'city', 'zip', 'timezone'] as const
type PlaceText = (typeof placeTexts)[number]

interface PlaceTextWriter {
  readonly isEmpty: (location: number) => boolean
  readonly write: (out: GrowingBuffer, location: number) => void
}

export function openPlaceText(
  reader: AnswerReader,
  texts: TableTexts,
  member: PlaceText,
): PlaceTextWriter {
  if (member === 'city' || member === 'zip') return runText(reader, texts, member)
  return stringText(texts, openPlaceString(reader.views, member))
}

function stringText(texts: TableTexts, idOf: (location: number) => number): PlaceTextWriter {
  const { offsets } = texts
  return {
    isEmpty: (location) => {
      const id = idOf(location)
      return offsets[id] === offsets[id + 1]
    },
    write: (out, location) => appendString(out, texts, idOf(location)),
  }
}

const quote = 0x22
const betweenCityAndZip = '","zip":"'.length

function runText(
  { views }: AnswerReader,
  { show }: TableTexts,
  member: 'city' | 'zip',
): PlaceTextWriter {
  const bytes = runBytes(views)
  const isPlain = plainBytes(show)
  const cached = newTextCache(views.location_runs.length + 1, (location) =>
    show(readLocality(views, location)[member]),
  )
  /** Where the text begins; -1 if a city before it contains an escape. */
  const begin = (location: number): number => {
    let at = locationTextAt(views, location)
    if (member === 'city') return at
    // Written this way for NaN: a damaged table's id may lie past its section.
    while (at < bytes.length && bytes[at] !== quote && bytes[at] !== backslash) at++
    return bytes[at] === quote ? at + betweenCityAndZip : -1
  }
  return {
    isEmpty: (location) => {
      const from = begin(location)
      return from >= 0 && bytes[from] === quote
    },
    write: (out, location) => {
      const from = begin(location)
      // Other first characters may begin a formula.
      if (from >= 0 && isPlain[bytes[from]!] === startsPlain) {
        let to = from + 1
        while (isPlain[bytes[to]!]! >= insidePlain) to++
        if (bytes[to] === quote) {
          appendSlice(out, bytes, from, to)
          return
        }
      } else if (from >= 0 && bytes[from] === quote) return
      appendCached(out, cached, location)
    },
  }
}

const backslash = 0x5c
const insidePlain = 1
const startsPlain = 2

/** Keyed by byte: whether texts containing it are shown unchanged, and those that begin with it. */
function plainBytes(show: (text: string) => string): Uint8Array {
  const plain = new Uint8Array(256)
  for (let byte = 0x20; byte < 0x7f; byte++) {
    const text = `a${String.fromCharCode(byte)}a`
    if (byte === quote || byte === backslash || show(text) !== text) continue
    plain[byte] = /\w/.test(text[1]!) ? startsPlain : insidePlain
  }
  return plain
}

export type TableTexts = ReturnType<typeof openTableTexts>

/**
 * Strings of the table. `verbatim` is 1, after the first use, for a string shown unchanged, which
 * is then copied from the table.
 */
export function openTableTexts({ views, strings }: AnswerReader, show: (text: string) => string) {
  const { string_offsets: offsets, string_bytes: bytes } = views
  // Past the section, since `appendView` reads a few bytes after a text.
  const rest = bytes.buffer.byteLength - bytes.byteOffset
  const length = Math.min(bytes.length + runElementBytes, rest)
  const source = new DataView(bytes.buffer, bytes.byteOffset, length)
  return { strings, show, offsets, source, verbatim: new Uint8Array(offsets.length) }
}

/** Hot if shown unchanged: no allocation. */
function appendString(buffer: GrowingBuffer, texts: TableTexts, id: number): void {
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
