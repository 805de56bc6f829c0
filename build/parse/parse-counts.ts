// Counts what a feed's file gave: entries, drops by reason, and the first bad entries, `file:place:
// reason: sample`, for acceptance and the build report.

import { type IpriskError, inputError } from '../../src/base/coded-error.ts'
import type { Day } from '../../src/base/day.ts'
import type { Entry, EntrySink } from './entry.ts'

/** Five show what is wrong with a file. */
export const badEntriesMax = 5

export interface ParseCounts {
  readonly file: string
  entryCount: number
  dropCount: number
  readonly drops: Map<string, number>
  /** `ipv4.txt:line 12: no address, prefix or range: hello`. */
  readonly bad: string[]
  stated: Day | undefined
}

export function newParseCounts(file: string): ParseCounts {
  return { file, entryCount: 0, dropCount: 0, drops: new Map(), bad: [], stated: undefined }
}

/** Also called by normalise. */
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

export const countingSink = (tally: ParseCounts, take: (entry: Entry) => void): EntrySink => ({
  entry(entry) {
    tally.entryCount++
    take(entry)
  },
  drop: (reason, place, sample) => countDrop(tally, { reason, place, sample }),
  stated(day) {
    tally.stated ??= day
  },
})

/** Length of samples of foreign text in messages and reports. */
export const sampleCharactersMax = 80

/** A short sample on one line; control characters become `\u0007`. */
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

/** A file that is not of its format: `line 1 looks like HTML: <!doctype html>`. */
export function wrongFormat(place: string, why: string, sample = ''): IpriskError {
  const shown = sample === '' ? '' : `: ${printableSample(sample)}`
  return inputError('not_this_format', `${place} ${why}${shown}`)
}
