// Format `ipsum`: `address<TAB>number of lists`, comments with #, the day in the header. The count
// is how many of IPsum's sources name the address, so it is evidence and must be there.

import type { Parser } from './entry.ts'
import { noOptions } from './format-options.ts'
import { parseLines } from './parse-lines.ts'

const shape = /^([0-9A-Fa-f:.]+)[\t ]+(\d{1,4})$/

export const parseIpsum: Parser = async (chunks, sink, options) => {
  noOptions(options)
  await parseLines(chunks, sink, (text, place, comment) => {
    const line = text.trim()
    if (line === '') return
    if (line.startsWith('#')) return comment(line)
    const match = shape.exec(line)
    const lists = Number(match?.[2] ?? 0)
    if (match === null) sink.drop('no address and count', place, text)
    else if (lists < 1) sink.drop('count is zero', place, text)
    else sink.entry({ text: match[1] ?? '', place, lists })
  })
}
