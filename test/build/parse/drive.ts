// Drives a parser over a text in given chunks and keeps all it said, for tests of formats.

import type { Entry, FormatOptions } from '../../../build/parse/entry.ts'
import { formatOf } from '../../../build/parse/formats.ts'
import { formatDay } from '../../../src/base/day.ts'

export interface Said {
  readonly entries: readonly Entry[]
  readonly drops: readonly { readonly reason: string; readonly place: string }[]
  readonly days: readonly string[]
}

export async function* chunksOf(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece)
}

/** Parses `pieces`; texts are encoded as UTF-8. */
export async function parsePieces(
  format: string,
  pieces: readonly (string | Uint8Array)[],
  options: FormatOptions = {},
): Promise<Said> {
  const entries: Entry[] = []
  const drops: { reason: string; place: string }[] = []
  const days: string[] = []
  const bytes = pieces.map((piece) =>
    typeof piece === 'string' ? new TextEncoder().encode(piece) : piece,
  )
  await formatOf(format).parse(
    chunksOf(bytes),
    {
      entry: (entry) => entries.push(entry),
      drop: (reason, place) => drops.push({ reason, place }),
      stated: (day) => days.push(formatDay(day)),
    },
    options,
  )
  return { entries, drops, days }
}

export async function parseText(
  format: string,
  text: string,
  options: FormatOptions = {},
): Promise<Said> {
  return parsePieces(format, [text], options)
}

/** The entries' texts. */
export const textsOf = (said: Said): readonly string[] => said.entries.map((entry) => entry.text)
