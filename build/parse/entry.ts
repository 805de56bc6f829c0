// What a format parser makes of a snapshot: entries as written, with their places. Normalise
// decides whether a text is an address, prefix, range or ASN; a parser drops only what is not an
// entry of its format.

import type { Day } from '../../src/base/day.ts'
import { parseRange, type Range } from '../../src/ip/range.ts'
import type { BotCategory } from '../../src/model/kind.ts'

export interface Entry {
  /** As written: address, prefix, `first-last`, or ASN as `AS123`. */
  readonly text: string
  /** `line 12`, or a JSON pointer such as `/prefixes/3/ip_prefix`. */
  readonly place: string
  /** Operator, hoster or bot named by the entry. */
  readonly provider?: string
  /** For files with bots of several categories. */
  readonly category?: BotCategory
  /** Number of lists that name it (IPsum); 1 if absent. */
  readonly lists?: number
  /** AS lists: the AS's name, and its class or tag. */
  readonly name?: string
  readonly label?: string
  /** The parsed text (`withRange`). */
  readonly range?: Range
}

/** Parsed once: acceptance, history and normalise need the range. */
export function withRange(entry: Entry): Entry {
  const range = parseRange(entry.text)
  return range === undefined ? entry : { ...entry, range }
}

export const rangeOf = ({ range, text }: Entry): Range | undefined => range ?? parseRange(text)

/** Calls come in file order. */
export interface EntrySink {
  entry(entry: Entry): void
  /** `reason` is a short stable phrase, counted by name. */
  drop(reason: string, place: string, sample: string): void
  /** The day that the file states. */
  stated(day: Day): void
}

/** From the catalogue: column names, JSON paths, services. */
export type FormatOptions = Readonly<Record<string, unknown>>

/**
 * Streams; never holds the whole file. Throws only if the whole file is unreadable (not JSON, a CSV
 * without its header); all else is a `drop`.
 */
export type Parser = (
  chunks: AsyncIterable<Uint8Array>,
  sink: EntrySink,
  options: FormatOptions,
) => Promise<void>
