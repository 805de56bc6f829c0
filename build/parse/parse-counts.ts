// Counts what a feed's file gave: entries taken, drops by reason, and the first bad entries as one
// line each, `file:place: reason: sample`. The build report is made of these; acceptance decides
// whether a feed may be used.

import { type IpriskError, inputError } from '../../src/base/coded-error.ts'
import type { Day } from '../../src/base/day.ts'
import type { Entry, EntrySink } from './entry.ts'

/** Five show what is wrong with a file; more would fill the report with one broken feed. */
export const badEntriesMax = 5

export interface ParseCounts {
  readonly file: string
  entryCount: number
  dropCount: number
  readonly drops: Map<string, number>
  /** The first bad entries: `ipv4.txt:line 12: no address, prefix or range: hello`. */
  readonly bad: string[]
  stated: Day | undefined
}

export function newParseCounts(file: string): ParseCounts {
  return { file, entryCount: 0, dropCount: 0, drops: new Map(), bad: [], stated: undefined }
}

/** Counts one drop; normalise calls it too, for entries that it refuses. */
export function countDrop(
  tally: ParseCounts,
  dropped: { readonly reason: string; readonly place: string; readonly sample: string },
): void {
  tally.dropCount++
  tally.drops.set(dropped.reason, (tally.drops.get(dropped.reason) ?? 0) + 1)
  if (tally.bad.length < badEntriesMax) {
    const { reason, place, sample } = dropped
    tally.bad.push(`${tally.file}:${place}: ${reason}: ${printableSample(sample)}`)
  }
}

/** A sink that counts into `tally` and hands each entry on. */
export function countingSink(tally: ParseCounts, take: (entry: Entry) => void): EntrySink {
  return {
    entry(entry) {
      tally.entryCount++
      take(entry)
    },
    drop: (reason, place, sample) => countDrop(tally, { reason, place, sample }),
    stated(day) {
      tally.stated ??= day
    },
  }
}

// The one error of a parser: the file as a whole is not of its format. Single bad entries are
// drops, never errors.

/** Samples of foreign text in messages and reports: enough to recognise, no more. */
export const sampleCharactersMax = 80

/** Cuts `text` to a sample of one printable line: control characters become `\u0007`. */
export function printableSample(text: string): string {
  const cut = text.slice(0, sampleCharactersMax)
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  const printable = cut.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return printable.length > sampleCharactersMax
    ? printable.slice(0, sampleCharactersMax)
    : printable
}

/** `not_this_format`: `line 1 looks like HTML: <!doctype html>`. */
export function wrongFormat(place: string, why: string, sample = ''): IpriskError {
  const shown = sample === '' ? '' : `: ${printableSample(sample)}`
  return inputError('not_this_format', `${place} ${why}${shown}`)
}
