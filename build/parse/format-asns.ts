// Format `asns`: `AS123 # name` or `123` per line. The option `label` applies to all ASes of the
// file (`hosting`, `vpn`).

import type { FormatOptions, Parser } from './entry.ts'
import { readOptions, textOption } from './format-options.ts'
import { parseLines } from './format-list.ts'

const shape = /^(?:AS)?(\d{1,10})$/i

export const asnsOptions = (options: FormatOptions) =>
  readOptions({ label: textOption.optional() }, options)

/** `AS123`, `as123` or `123` to `AS123`; `undefined` for other texts. */
export function asnText(text: string): string | undefined {
  const match = shape.exec(text)
  return match === null ? undefined : `AS${match[1] ?? ''}`
}

export const parseAsns: Parser = async (chunks, sink, options) => {
  const { label } = asnsOptions(options)
  const labelled = label === undefined ? {} : { label }
  await parseLines(chunks, sink, (text, place) => {
    const hash = text.indexOf('#')
    const written = (hash < 0 ? text : text.slice(0, hash)).trim()
    if (written === '') return
    const asn = asnText(written)
    if (asn === undefined) return sink.drop('no AS number', place, text)
    const name = hash < 0 ? '' : text.slice(hash + 1).trim()
    sink.entry({ text: asn, place, ...labelled, ...(name === '' ? {} : { name }) })
  })
}
