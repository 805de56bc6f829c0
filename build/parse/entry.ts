// What a format parser makes of a snapshot's bytes: entries as written, unjudged, each with its
// place. Whether the text is an address, prefix, range or ASN is decided by normalise, not here; a
// parser drops only what is not an entry of its format at all, and says where and why.

import type { Day } from '../../src/base/day.ts'
import { parseRange, type Range } from '../../src/ip/range.ts'
import type { BotCategory } from '../../src/model/kind.ts'

export interface Entry {
  /** As written: address, prefix, `first-last`, or an ASN as `AS123`. */
  readonly text: string
  /** Where: `line 12`, or a JSON pointer, `/prefixes/3/ip_prefix`. */
  readonly place: string
  /** Operator, hoster or bot that the entry itself names. */
  readonly provider?: string
  /** For bots, where one file holds several with different categories. */
  readonly category?: BotCategory
  /** How many lists name it (IPsum); 1 where absent. */
  readonly lists?: number
  /** AS lists: the name and the class or tag that the file gives the AS. */
  readonly name?: string
  readonly label?: string
  /** What the text means, where that was read before (`withRange`). */
  readonly range?: Range
}

/** A build asks for the range of an entry three times: acceptance, history, normalise. */
export function withRange(entry: Entry): Entry {
  const range = parseRange(entry.text)
  return range === undefined ? entry : { ...entry, range }
}

/** `undefined` for what is no address, prefix or range. */
export function rangeOf({ range, text }: Entry): Range | undefined {
  return range ?? parseRange(text)
}

/** Where a parser puts what it finds. Calls come in file order. */
export interface EntrySink {
  entry(entry: Entry): void
  /** Something that is no entry: `reason` is a short stable phrase, counted under that name. */
  drop(reason: string, place: string, sample: string): void
  /** The day that the file itself states, where its format has one. */
  stated(day: Day): void
}

/** Options of a format that the catalogue gives per file: column names, JSON paths, services. */
export type FormatOptions = Readonly<Record<string, unknown>>

/**
 * A format parser streams: it never holds the whole file. It throws only for what makes the whole
 * file unreadable (not JSON at all, a CSV without its header); all else is a `drop`.
 */
export type Parser = (
  chunks: AsyncIterable<Uint8Array>,
  sink: EntrySink,
  options: FormatOptions,
) => Promise<void>
