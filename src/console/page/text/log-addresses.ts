// Finds addresses in pasted text or a log, by the forms of `iprisk check` and its choice among several
// addresses. Text of no known form may name them anywhere. The server decides what is valid.

import { arrayLines } from '../../../bulk/array-elements.ts'
import { guessFormat } from '../../../bulk/log-guess.ts'
import { chooseAddress, isComment, newLineReader } from '../../../bulk/log-line.ts'

/** Unique, in order. */
export function addressesIn(text: string): readonly string[] {
  return [...new Set(wordsOf(text).flatMap((word) => chooseAddress(word, undefined) ?? []))]
}

/** `undefined` if the line has none. */
export function clientAddress(line: string): string | undefined {
  return addressesOfText(line, 1).addresses[0]
}

export type FoundAddresses = ReturnType<typeof addressesOfText>

/** The client of each line; all addresses of a line that has nothing else. Unique, in order. */
export function addressesOfText(text: string, max: number) {
  const bytes = arrayLines(new TextEncoder().encode(text))
  const format = guessFormat(bytes)
  const read = format.kind === 'log' ? newLineReader(format) : undefined
  const found = new Set<string>()
  let linesWithout = 0
  /** How many were dropped above `max`. */
  let beyond = 0
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    if (line.trim() === '') continue
    const here = read === undefined ? plainAddresses(line) : namedBy(read(line))
    if (here?.length === 0) linesWithout += 1
    for (const one of here ?? []) {
      if (found.has(one)) continue
      if (found.size < max) found.add(one)
      else beyond += 1
    }
  }
  const form = format.kind === 'log' ? format.form : undefined
  return { addresses: [...found], linesWithout, beyond, form }
}

function namedBy(entry: ReturnType<ReturnType<typeof newLineReader>>) {
  return entry && ('address' in entry ? [entry.address] : [])
}

/** `undefined` for comments. */
function plainAddresses(line: string): readonly string[] | undefined {
  if (isComment(line)) return undefined
  const all = addressesIn(line)
  if (all.length < 2 || all.length === wordsOf(line).length) return all
  return [chooseAddress(all.join(), undefined) ?? all[0]!]
}

/** Without the full stop at the end of a sentence. */
function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,;|"'<>(){}=]+|\.(?=\s|$)/).filter(Boolean)
}
