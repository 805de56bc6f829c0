// Format `ipsum`: `address<TAB>number of lists`, comments with #, the day in the header. The count
// is how many of IPsum's sources name the address, so it is evidence and must be there.

import type { FormatOptions, Parser } from './entry.ts'
import { cutLines } from './cut-lines.ts'
import { refuseUnknownOptions } from './format-options.ts'
import { statedInComment } from './stated-day.ts'

const shape = /^([0-9A-Fa-f:.]+)[\t ]+(\d{1,4})$/

export function ipsumOptions(options: FormatOptions): void {
  refuseUnknownOptions(options, [])
}

export const parseIpsum: Parser = async (chunks, sink, options) => {
  ipsumOptions(options)
  let stated = false
  await cutLines(chunks, {
    line(text, number) {
      const place = `line ${number}`
      const line = text.trim()
      if (line === '') return
      if (line.startsWith('#')) {
        const day = stated ? undefined : statedInComment(line)
        if (day !== undefined) {
          stated = true
          sink.stated(day)
        }
        return
      }
      const match = shape.exec(line)
      const lists = Number(match?.[2] ?? 0)
      if (match === null) sink.drop('no address and count', place, text)
      else if (lists < 1) sink.drop('count is zero', place, text)
      else sink.entry({ text: match[1] ?? '', place, lists })
    },
    tooLong: (number, start) => sink.drop('line too long', `line ${number}`, start),
  })
}
