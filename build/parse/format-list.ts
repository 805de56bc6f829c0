// Formats with one entry per line: `list`, `ipsum`, `proxies`. Only the shape counts: `999.1.1.1`
// is an entry, which normalise refuses.

import { cutLines } from './cut-lines.ts'
import type { EntrySink, Parser } from './entry.ts'
import { noOptions } from './format-options.ts'
import { statedInComment } from './stated-day.ts'

/** Calls `comment` with what may be a comment. */
type ParseLine = (text: string, place: string, comment: (text: string) => void) => void

/** The first day that a comment states goes to `sink`. */
export async function parseLines(
  chunks: AsyncIterable<Uint8Array>,
  sink: EntrySink,
  parse: ParseLine,
): Promise<void> {
  let stated = false
  const comment = (text: string): void => {
    const day = stated ? undefined : statedInComment(text)
    if (day === undefined) return
    stated = true
    sink.stated(day)
  }
  await cutLines(chunks, {
    line: (text, number) => parse(text, `line ${number}`, comment),
    tooLong: (number, start) => sink.drop('line too long', `line ${number}`, start),
  })
}

const shape = /^[0-9A-Fa-f:.]+(?:\/[0-9.]+|-[0-9A-Fa-f:.]+)?$/

// Format `list`: one address, prefix or range per line; comments with # and ;, also after an entry.
// `a - b` may have blanks. Lines of several words are dropped: guessing would hide a changed
// format.

function joinEnds(text: string): string {
  const dash = text.indexOf('-')
  const first = text.slice(0, dash).trimEnd()
  const last = text.slice(dash + 1).trimStart()
  const isSpaced = dash > first.length && dash + 1 + last.length < text.length
  return isSpaced ? `${first}-${last}` : text
}

export const parseList: Parser = async (chunks, sink, options) => {
  noOptions(options)
  await parseLines(chunks, sink, (text, place, comment) => {
    const end = text.search(/[#;]/)
    const entry = joinEnds((end < 0 ? text : text.slice(0, end)).trim())
    // A comment after an entry concerns that entry only.
    if (entry === '') return end < 0 ? undefined : comment(text.slice(end))
    if (/\s/.test(entry)) sink.drop('several words', place, text)
    else if (!shape.test(entry)) sink.drop('no address, prefix or range', place, text)
    else sink.entry({ text: entry, place })
  })
}

// Format `ipsum`: `address<TAB>number of lists`, comments with #, the day in the header. The number
// of lists is evidence and required.

const ipsumShape = /^([0-9A-Fa-f:.]+)[\t ]+(\d{1,4})$/

export const parseIpsum: Parser = async (chunks, sink, options) => {
  noOptions(options)
  await parseLines(chunks, sink, (text, place, comment) => {
    const line = text.trim()
    if (line === '') return
    if (line.startsWith('#')) return comment(line)
    const match = ipsumShape.exec(line)
    const lists = Number(match?.[2] ?? 0)
    if (match === null) sink.drop('no address and count', place, text)
    else if (lists < 1) sink.drop('count is zero', place, text)
    else sink.entry({ text: match[1] ?? '', place, lists })
  })
}

// Format `proxies`: `scheme://host:port`, `host:port` or `[address]:port` per line, with optional
// credentials before an @. Only the host is evidence: the proxy listens there, and most send from
// there. Host names are dropped, not resolved.

const form = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^@\s]*@)?(\[[^\]\s]*\]|[^:\s]*):(\d{1,5})\/?$/i
const hostShape = /^[0-9A-Fa-f:.]+$/

export const parseProxies: Parser = async (chunks, sink, options) => {
  noOptions(options)
  await parseLines(chunks, sink, (text, place, comment) => {
    const line = text.trim()
    if (line === '') return
    if (line.startsWith('#') || line.startsWith(';')) return comment(line)
    const match = form.exec(line)
    if (match === null) return sink.drop('no host and port', place, text)
    const port = Number(match[3])
    if (port < 1 || port > 65_535) return sink.drop('port out of range', place, text)
    const host = (match[2] ?? '').replace(/^\[|\]$/g, '')
    if (!hostShape.test(host)) return sink.drop('host is not an address', place, text)
    sink.entry({ text: host, place })
  })
}
