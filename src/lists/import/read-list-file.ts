// Reads a file of list entries in any format (list-forms.ts) and judges it. Bad lines are counted,
// the first kept for messages; a list with effect `allow`, and lines of `lists export`, are
// imported whole or not at all, because missing or wider entries would go unnoticed there.

import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import { fewLines } from '../../base/text/shortened-list.ts'
import type { ListEffect } from '../../model/kind.ts'
import { type ListEntry, listError, noteFault, parseEntryKey } from '../list-entry.ts'
import { formOf, ownLinesName } from './list-forms.ts'

const linesRefused = 10
const linesWarned = 3
const quotedChars = 80

export interface ParsedList {
  readonly effect: ListEffect | undefined
  readonly entries: readonly ListEntry[]
}

interface Told {
  count: number
  /** The first ones, for messages. */
  readonly lines: string[]
}

export interface ListFile {
  readonly origin: string
  readonly form: string
  readonly namesLists: boolean
  /** Keyed by name; `''` if the file names none. */
  readonly lists: ReadonlyMap<string, ParsedList>
  /** How many entries were read, repetitions included. */
  readonly good: number
  readonly bad: Readonly<Told>
  readonly masked: Readonly<Told>
}

/** `origin` is what messages call it; `now` in milliseconds. */
export function readListFile(text: string, now: number, origin: string): ListFile {
  const lists = new Map<string, { effect: ListEffect | undefined; entries: ListEntry[] }>()
  const bad: Told = { count: 0, lines: [] }
  const masked: Told = { count: 0, lines: [] }
  const lines = text.replace(/^\ufeff/, '').split(/\n|\r(?!\n)/)
  const { name: form, read } = formOf(lines)
  const seconds = Math.floor(now / 1000)
  let good = 0
  const listOf = (name: string) => {
    let list = lists.get(name)
    if (list === undefined) lists.set(name, (list = { effect: undefined, entries: [] }))
    return list
  }
  const tell = (told: Told, line: number, written: string, why: string): void => {
    told.count += 1
    if (told.lines.length >= linesRefused) return
    const place = line === 0 ? origin : `${origin}:${line}`
    told.lines.push(`  ${place}: ${JSON.stringify(written.slice(0, quotedChars))}: ${why}`)
  }
  read(
    lines,
    {
      effect: (list, effect) => (listOf(list).effect = effect),
      bad: (line, written, why) => tell(bad, line, written, why),
      entry: (line, written, { text, note = '', expires = 0, list = '', added = seconds }) => {
        const parsed = parseEntryKey(text)
        const key = typeof parsed === 'string' ? parsed : parsed.masked
        const fault = key === undefined ? (parsed as { fault: string }).fault : noteFault(note)
        if (key === undefined || fault !== undefined) return tell(bad, line, written, fault ?? '')
        if (typeof parsed !== 'string') tell(masked, line, written, parsed.fault)
        good += 1
        listOf(list).entries.push({ key, expires, added, note })
      },
    },
    seconds,
  )
  return { origin, form, namesLists: form === ownLinesName, lists, good, bad, masked }
}

/** Throws `lists_file` if the file cannot be used. `strict`: nothing is skipped or masked. */
export function checkListFile(
  { origin, form, namesLists, lists, good, bad, masked }: ListFile,
  how: { readonly strict?: boolean; readonly replace?: boolean; readonly force?: boolean },
): void {
  const { strict = false, replace = false, force = false } = how
  const isAllowed = [...lists.values()].some(({ effect }) => effect === 'allow')
  if (strict || isAllowed || namesLists) {
    const count = bad.count + masked.count
    const lines = fewLines([...bad.lines, ...masked.lines], linesRefused, '  ', count)
    if (count > 0) throw listError('lists_file', 'Nothing was imported:', lines)
  }
  const isMostlyBad = good < bad.count
  if (bad.count === 0 || (!isMostlyBad && (!replace || force))) return
  const counts = `${formatCount(bad.count)} of its ${formatCount(good + bad.count)} lines`
  const advice = isMostlyBad ? '' : '; to replace the list with the others, add --force'
  throw listError(
    'lists_file',
    `Nothing was imported: ${origin} was read as ${form}, and ${counts} could not be read${advice}:`,
    fewLines(bad.lines, linesRefused, '  ', bad.count),
  )
}

/** What was skipped or changed: a text each, with the first lines. */
export function listFileWarnings({
  origin,
  bad,
  masked,
}: ListFile): readonly (readonly string[])[] {
  const isLeftOut = `${formatCounted(bad.count, 'line', 'lines')} of ${origin} could not be read:`
  const isMasked = `host bits were masked in ${formatCounted(masked.count, 'entry', 'entries')}:`
  return [
    ...(bad.count === 0 ? [] : [[isLeftOut, ...fewLines(bad.lines, linesWarned, '  ', bad.count)]]),
    ...(masked.count === 0
      ? []
      : [[isMasked, ...fewLines(masked.lines, linesWarned, '  ', masked.count)]]),
  ]
}
