// Format `proxies`: `scheme://host:port`, `host:port`, `[address]:port`, one a line, with optional
// credentials before an @. Only the host is evidence: it is where the proxy listens, and for most
// also where its traffic leaves. A host that is a name is dropped; nothing here resolves names.

import type { FormatOptions, Parser } from './entry.ts'
import { cutLines } from './cut-lines.ts'
import { refuseUnknownOptions } from './format-options.ts'
import { statedInComment } from './stated-day.ts'

const form = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^@\s]*@)?(\[[^\]\s]*\]|[^:\s]*):(\d{1,5})\/?$/i
const hostShape = /^[0-9A-Fa-f:.]+$/

export function proxiesOptions(options: FormatOptions): void {
  refuseUnknownOptions(options, [])
}

export const parseProxies: Parser = async (chunks, sink, options) => {
  proxiesOptions(options)
  let stated = false
  await cutLines(chunks, {
    line(text, number) {
      const place = `line ${number}`
      const line = text.trim()
      if (line === '') return
      if (line.startsWith('#') || line.startsWith(';')) {
        const day = stated ? undefined : statedInComment(line)
        if (day !== undefined) {
          stated = true
          sink.stated(day)
        }
        return
      }
      const match = form.exec(line)
      if (match === null) return sink.drop('no host and port', place, text)
      const port = Number(match[3])
      if (port < 1 || port > 65_535) return sink.drop('port out of range', place, text)
      const host = (match[2] ?? '').replace(/^\[|\]$/g, '')
      if (!hostShape.test(host)) return sink.drop('host is no address', place, text)
      sink.entry({ text: host, place })
    },
    tooLong: (number, start) => sink.drop('line too long', `line ${number}`, start),
  })
}
