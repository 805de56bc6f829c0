// Format `proxies`: `scheme://host:port`, `host:port`, `[address]:port`, one a line, with optional
// credentials before an @. Only the host is evidence: it is where the proxy listens, and for most
// also where its traffic leaves. A host that is a name is dropped; nothing here resolves names.

import type { Parser } from './entry.ts'
import { noOptions } from './format-options.ts'
import { parseLines } from './parse-lines.ts'

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
    if (!hostShape.test(host)) return sink.drop('host is no address', place, text)
    sink.entry({ text: host, place })
  })
}
