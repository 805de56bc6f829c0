// Reads one line of a log as text, by its form: address, time, path, status. The slow path for
// lines that line-field.ts and log-request.ts do not read in place.
//
// Invariants: never throws; each line is an entry, a reason why it is none, or skipped.

import { parseJson } from '../base/json-object.ts'
import { bareAddress } from '../client/address/forwarded-header.ts'
import { walkProxies } from '../client/address/proxy-walk.ts'
import type { Trust } from '../client/address/trusted-proxies.ts'
import type { LogFormName, TimeSpan } from '../config/line-formats.ts'
import { type LogMembers, logForms, logPrefix } from './log-forms.ts'

/** Plain data: it crosses threads. */
export interface LogFormat {
  readonly kind: 'log'
  readonly form: LogFormName
  /** For JSON or fields: where the address is, instead of the usual members. */
  readonly path?: readonly string[] | undefined
  /** From the last header `#Fields:` before these lines. */
  readonly fields?: readonly string[] | undefined
  readonly trust?: Trust | undefined
  /** Milliseconds since the epoch, `untilMs` excluded. */
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly by?: TimeSpan | undefined
}

export interface LogEntry {
  readonly address: string
  /** As logged, without its query; '' if the line has none. */
  readonly path: string
  readonly status: string
  /** NaN if the line has none. */
  readonly timeMs: number
}

export type BadReason =
  | 'no address'
  | 'no time'
  | 'no #Fields: before it'
  | 'not JSON'
  | 'NUL bytes'
  | 'line too long'
  | 'line cut off'
  | `not ${LogFormName}`

export interface UnreadLine {
  readonly reason: BadReason
  /** The text in place of an address, or the line. */
  readonly text: string
}

/** `undefined`: a comment, or outside the time span. */
export type LineReader = (line: string) => LogEntry | UnreadLine | undefined

interface RawEntry {
  readonly address?: string | undefined
  readonly forwarded?: string | undefined
  readonly time?: string | undefined
  /** As the client sent it, `GET /a?b HTTP/1.1`, or only the target. */
  readonly request?: string | undefined
  readonly path?: string | undefined
  readonly status?: string | undefined
}

/** `isGuess`: reads only lines that are evidence of the form. */
export function newLineReader(format: LogFormat, isGuess = false): LineReader {
  const { trust, sinceMs = -Infinity, untilMs = Infinity, by } = format
  const needsTime = by !== undefined || format.sinceMs !== undefined || format.untilMs !== undefined
  const read = rawReader(format, isGuess)
  const isText = logForms[format.form].pattern !== undefined
  return (line) => {
    const raw = read(withoutPrefix(line, isText))
    if (raw === undefined) return undefined
    if (typeof raw === 'string') {
      return { reason: line.includes('\0') ? 'NUL bytes' : raw, text: line.trim() }
    }
    const address = chooseAddress(raw.address ?? '', raw.forwarded, trust)
    if (address === undefined) {
      const text = raw.address ?? ''
      return { reason: text.includes('\0') ? 'NUL bytes' : 'no address', text }
    }
    const timeMs = needsTime ? parseLogTime(raw.time ?? '') : NaN
    if (needsTime && Number.isNaN(timeMs)) return { reason: 'no time', text: raw.time ?? '' }
    if (timeMs < sinceMs || timeMs >= untilMs) return undefined
    const path = pathOf(raw)
    return { address, path, status: /^\d{3}$/.test(raw.status ?? '') ? raw.status! : '', timeMs }
  }
}

function rawReader(
  format: LogFormat,
  isGuess: boolean,
): (line: string) => RawEntry | BadReason | undefined {
  const { form, path } = format
  const { pattern, otherwise, members, hasFields, isPairs } = logForms[form]
  if (hasFields) return fieldsReader(format.fields, path?.[0])
  if (members !== undefined) {
    const wanted = Object.fromEntries(
      Object.entries(members).map(([role, paths]) => [role, paths.split(' ')]),
    ) as unknown as Wanted
    const stated = path && { ...wanted, address: [path], forwarded: [] }
    const valueOf = isPairs ? pairsOf : jsonOf
    return (line) => {
      const value = valueOf(line)
      if (value === undefined)
        return isComment(line) ? undefined : isPairs ? 'not logfmt' : 'not JSON'
      return readMembers(value, stated ?? wanted)
    }
  }
  return (line) => {
    const text = line.slice(0, patternCharsMax)
    const found = pattern?.exec(text) ?? (isGuess ? undefined : otherwise?.exec(text))
    return found?.groups ?? (isComment(line) ? undefined : `not ${form}`)
  }
}

/** Requests have some kilobytes at most; patterns take longer for longer lines. */
const patternCharsMax = 16_384

/** Without a collector's prefix, and out of its JSON (Docker and others). */
function withoutPrefix(line: string, isText: boolean): string {
  const isWrapped = line.startsWith('{"log":"') || (isText && line.startsWith('{'))
  const value = isWrapped ? parseJson(line) : undefined
  const inner = messageNames.flatMap((name) => memberText(value, name) ?? [])[0]
  return (inner?.trimEnd() ?? line).replace(logPrefix, '')
}

const messageNames = ['log', 'message', 'line', 'MESSAGE', 'textPayload', '@message']

export const isComment = (line: string): boolean => /^\s*[#;]/.test(line)

/** The path without query, host and protocol. */
function pathOf({ request, path }: RawEntry): string {
  const asked = path ?? request?.replace(/^[A-Z]+ (\S+)(?: .*)?$/, '$1') ?? ''
  const target = asked.replace(/^[a-z]+:\/\/[^/?]*/, '')
  return /^[/*]/.test(target) ? target.replace(/\?.*$/s, '') : ''
}

export const fieldsMark = '#Fields:'

/** The names behind `#Fields:`; `undefined` for other lines. */
export function fieldsOf(line: string): readonly string[] | undefined {
  if (!line.startsWith(fieldsMark)) return undefined
  return line.slice(fieldsMark.length).trim().toLowerCase().split(/\s+/)
}

/** Values in quotes may contain spaces; they are only parsed if there are too many values. */
function fieldValues(text: string, count: number): readonly string[] {
  if (text.includes('\t')) return text.split('\t')
  const values = text.split(' ')
  if (values.length <= count || !text.includes(' "')) return values
  return text.match(/(?<=^| )(?:"(?:[^"]|"")*"|[^ ]*)(?= |$)/g) ?? values
}

function fieldsReader(first: readonly string[] | undefined, column?: string) {
  let names = first
  return (line: string): RawEntry | BadReason | undefined => {
    if (line.startsWith('#')) {
      names = fieldsOf(line) ?? names
      return undefined
    }
    const text = line.replace(/\r$/, '')
    const values = fieldValues(text, names?.length ?? 0)
    if (names === undefined) return 'no #Fields: before it'
    if (values.length < names.length) return 'not w3c'
    const value = (name: string): string | undefined => {
      const found = values[names!.indexOf(name)]
      return found === '-' ? undefined : found
    }
    const date = value('date')
    if (column !== undefined && !names.includes(column)) return 'no address'
    return {
      address: value(column ?? 'c-ip'),
      forwarded:
        column !== undefined
          ? undefined
          : (value('x-forwarded-for') ?? value('cs(x-forwarded-for)'))?.replaceAll('+', ''),
      time: date === undefined ? value('timestamp') : `${date} ${value('time') ?? ''}`,
      path: value('cs-uri-stem'),
      status: value('sc-status'),
    }
  }
}

type Wanted = Readonly<Record<keyof LogMembers, readonly (string | readonly string[])[]>>

function readMembers(value: unknown, wanted: Wanted): RawEntry {
  // Elasticsearch, Google Cloud and Splunk export the logged members inside one member.
  const inner = holderNames.map((name) => own(value, name)).find((one) => typeof one === 'object')
  const holders = inner === undefined ? [value] : [inner, value]
  const first = (name: keyof LogMembers): string | undefined => {
    for (const holder of holders) {
      for (const path of wanted[name]) {
        const text = memberText(holder, path)
        if (text !== undefined) return text
      }
    }
    return undefined
  }
  return {
    // An element of an array of addresses has no members.
    address: typeof value === 'string' ? value : addressMember(holders, wanted.address),
    forwarded: first('forwarded'),
    time: first('time'),
    request: first('request'),
    status: first('status'),
  }
}

const holderNames = ['_source', 'jsonPayload', 'result']

/** The first that holds an address, else the first. */
function addressMember(holders: readonly unknown[], paths: Wanted['address']): string | undefined {
  const texts = holders.flatMap((holder) => paths.flatMap((path) => memberText(holder, path) ?? []))
  return texts.find((text) => chooseAddress(text, undefined) !== undefined) ?? texts[0]
}

/** Also with `\x22`, which nginx writes without `escape=json`. */
function jsonOf(line: string): unknown {
  const value = parseJson(line)
  if (value !== undefined) return value
  const escaped = line
    .replace(/,\s*$/, '')
    .replaceAll(/\\(?:x([\dA-Fa-f]{2})|[^])/g, (whole, hex?: string) =>
      hex === undefined ? whole : `\\u00${hex}`,
    )
  return parseJson(escaped)
}

const pair = /(?<![^\s|])([\w.@-]{1,64})=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))/g
/** Any text may contain fewer. */
const pairsMin = 3

/** `a=1 b="2 3"`, as Go, Heroku and firewalls write; ignores text before it. */
function pairsOf(line: string): unknown {
  const pairs = Array.from(
    line.slice(0, patternCharsMax).matchAll(pair),
    ([, name, quotedText, text]) => [name, quotedText ?? text] as const,
  )
  return pairs.length < pairsMin ? undefined : Object.fromEntries(pairs)
}

/** A member's name may contain dots. */
function memberText(value: unknown, path: string | readonly string[]): string | undefined {
  const found =
    typeof path === 'string'
      ? (own(value, path) ?? path.split('.').reduce<unknown>(own, value))
      : path.reduce<unknown>(own, value)
  if (typeof found === 'string') return found
  if (Array.isArray(found)) return found.filter((one) => typeof one === 'string').join(',')
  return typeof found === 'number' ? String(found) : undefined
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const clfTime =
  /^(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d(?:\.\d+)?)(?: ([+-]\d\d):?(\d\d))?$/
const isoTime =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/

/** Milliseconds since the epoch, UTC without a zone; NaN if invalid. */
function parseLogTime(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return epochMs(Number(text))
  const [, day = '', month = '', year = '', time = '', hours = '+00', minutes = '00'] =
    clfTime.exec(text) ?? []
  if (day !== '') {
    const number = String(months.indexOf(month) + 1).padStart(2, '0')
    return Date.parse(`${year}-${number}-${day.padStart(2, '0')}T${time}${hours}:${minutes}`)
  }
  const [, date, clock = '00:00', zone = 'Z'] = isoTime.exec(text) ?? []
  if (date === undefined) return NaN
  const offset = zone.replace('UTC', 'Z').replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  return Date.parse(`${date}T${clock.replace(',', '.')}${offset}`)
}

/** Present-day times in seconds, milliseconds, microseconds and nanoseconds differ in size. */
function epochMs(value: number): number {
  if (value < 1e11) return value * 1000
  if (value < 1e14) return value
  return value < 1e17 ? value / 1000 : value / 1e6
}

/** Skips private addresses: the last public one counts. */
const lastPublic: Trust = ['loopback', 'private', '100.64.0.0/10']

/**
 * The address that a line is about: the one that the client's `trust` would choose, without quotes,
 * ports, brackets and zones. `peer` may be a list itself; `-` and '' are none.
 */
export function chooseAddress(
  peer: string,
  forwarded: string | undefined,
  trust: Trust = lastPublic,
): string | undefined {
  const isSingle = forwarded === undefined && !peer.includes(',')
  if (isSingle) return logAddress(peer)
  const texts = `${forwarded ?? ''},${peer}`
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== '-')
    .map((one) => logAddress(one) ?? one)
  const headers = { 'x-forwarded-for': texts.slice(0, -1).join(',') }
  return walkProxies({ headers, peer: texts.at(-1) ?? '' }, { trust, header: 'x-forwarded-for' })
    .address
}

const quoted = /^(["'])(.*)\1$/

function logAddress(text: string): string | undefined {
  const bare = text.trim().replace(quoted, '$2')
  // Eight groups and a port: HAProxy and load balancers write IPv6 this way.
  return bareAddress(bare) ?? bareAddress(bare.replace(/:\d{1,5}$/, ''))
}
