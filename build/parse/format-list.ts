// Format `list`: one address, prefix or range a line; comments with # and ;, also behind an entry.
// `a - b` may be written with blanks. It knows the shape only: `999.1.1.1` is an entry here, and
// normalise refuses it. A line of several words is dropped, because guessing which of them is meant
// would let a changed format in unnoticed.

import type { FormatOptions, Parser } from './entry.ts'
import { cutLines } from './cut-lines.ts'
import { refuseUnknownOptions } from './format-options.ts'
import { statedInComment } from './stated-day.ts'

const shape = /^[0-9A-Fa-f:.]+(?:\/[0-9.]+|-[0-9A-Fa-f:.]+)?$/

export function listOptions(options: FormatOptions): void {
  refuseUnknownOptions(options, [])
}

export const parseList: Parser = async (chunks, sink, options) => {
  listOptions(options)
  let stated = false
  await cutLines(chunks, {
    line(text, number) {
      const place = `line ${number}`
      const comment = text.search(/[#;]/)
      if (comment >= 0 && !stated) {
        const day = statedInComment(text.slice(comment))
        if (day !== undefined) {
          stated = true
          sink.stated(day)
        }
      }
      const entry = (comment < 0 ? text : text.slice(0, comment)).trim().replace(/\s+-\s+/, '-')
      if (entry === '') return
      if (/\s/.test(entry)) sink.drop('several words', place, text)
      else if (!shape.test(entry)) sink.drop('no address, prefix or range', place, text)
      else sink.entry({ text: entry, place })
    },
    tooLong: (number, start) => sink.drop('line too long', `line ${number}`, start),
  })
}
