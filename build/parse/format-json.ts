// Format `json`: entries at known paths of a JSON text; the catalogue has the paths.
//
// In a path such as `/prefixes/*/ip_prefix`, `*` is any member or index; `{service}` is too, and
// names the service. Options: `entries` (paths of values) or `names` (paths whose last member name
// is the entry); `day` (path of the stated day, as text or seconds since 1970); `asn` (values are
// AS numbers); `label` (of all entries, or the path of a later member of the same record:
// `/*/metadata/category` for `/*/asn`); `lines` (JSON lines); `services` (`{"Googlebot":
// {"provider": "Google", "category": "search_crawler"}}`, category `other` for neither crawler nor
// AI tool).

import { z } from 'zod'
import { dayOf, type Day } from '../../src/base/day.ts'
import { botCategories } from '../../src/model/kind.ts'
import { asnText } from './format-asns.ts'
import type { Entry, FormatOptions, Parser, EntrySink } from './entry.ts'
import { readOptions, refuseOption, textOption, textsOption } from './format-options.ts'
import { wrongFormat } from './parse-counts.ts'
import { statedDay } from './stated-day.ts'
import {
  type JsonPath,
  type JsonScalar,
  type JsonVisitor,
  pointerOf,
  walkJson,
} from './json-walk.ts'

/** `undefined` stands for `*` and `{service}`. */
interface PathPattern {
  readonly parts: readonly (string | undefined)[]
  readonly serviceIndex: number
}

const categories = [...botCategories, 'other'] as const
const servicesWanted =
  `an object of {provider, category} by service, each of category ${botCategories.join(', ')} ` +
  'or other'
const serviceForm = z.object(
  {
    provider: z.string(servicesWanted),
    category: z
      .enum(categories, servicesWanted)
      .transform((name) => (name === 'other' ? undefined : name)),
  },
  servicesWanted,
)

const paths = textsOption.default([]).transform((texts) => texts.map(patternOf))
const shape = {
  entries: paths,
  names: paths,
  day: textOption.transform(patternOf).optional(),
  asn: z.boolean('true or false').default(false),
  label: textOption.transform((text) => (text.startsWith('/') ? patternOf(text) : text)).optional(),
  lines: z.boolean('true or false').default(false),
  services: z
    .record(z.string(), serviceForm, servicesWanted)
    .transform((named) => new Map(Object.entries(named)))
    .optional(),
} as const
type JsonOptions = ReturnType<typeof jsonOptions>

export function jsonOptions(options: FormatOptions) {
  const read = readOptions(shape, options)
  const { entries, names, services } = read
  if (entries.length + names.length === 0) refuseOption('entries', 'given, or names')
  const named = [...entries, ...names].some((pattern) => pattern.serviceIndex >= 0)
  if (named !== (services !== undefined)) refuseOption('services', 'given with a path {service}')
  return read
}

function patternOf(text: string): PathPattern {
  if (!text.startsWith('/')) refuseOption('entries', 'paths that begin with /')
  const parts = text.slice(1).split('/')
  const unescape = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')
  return {
    parts: parts.map((part) => (part === '*' || part === '{service}' ? undefined : unescape(part))),
    serviceIndex: parts.indexOf('{service}'),
  }
}

function matches(pattern: PathPattern, path: JsonPath): boolean {
  if (pattern.parts.length !== path.length) return false
  return pattern.parts.every((part, at) => part === undefined || part === path[at])
}

export const parseJson: Parser = async (chunks, sink, options) => {
  const settings = jsonOptions(options)
  const labelPath = typeof settings.label === 'string' ? undefined : settings.label
  let found = false
  let stated = false
  /** An entry that waits for its record's label; the path's first part is the record's index. */
  let pending: { readonly record: string | number | undefined; readonly entry: Entry } | undefined
  const flush = (label: JsonScalar): void => {
    if (pending !== undefined) {
      sink.entry(typeof label === 'string' ? { ...pending.entry, label } : pending.entry)
    }
    pending = undefined
  }

  const take = (pattern: PathPattern, path: JsonPath, value: JsonScalar | undefined): void => {
    found = true
    const entry = entryOf(settings, pattern, path, value)
    flush(null)
    if (typeof entry === 'string') sink.drop(entry, pointerOf(path), String(value ?? ''))
    else if (labelPath === undefined) sink.entry(entry)
    else pending = { record: path[0], entry }
  }

  const visitor: JsonVisitor = {
    value(path, value) {
      if (pending?.record === path[0] && labelPath && matches(labelPath, path)) flush(value)
      for (const pattern of settings.entries) {
        if (matches(pattern, path)) take(pattern, path, value)
      }
      for (const pattern of settings.names) {
        if (matches(pattern, path)) take(pattern, path, path.at(-1) ?? '')
      }
      if (!stated && settings.day !== undefined && matches(settings.day, path)) {
        stated = state(sink, value)
      }
    },
    open(path) {
      for (const pattern of settings.entries) {
        if (matches(pattern, path)) take(pattern, path, undefined)
      }
    },
  }
  await walkJson(chunks, visitor, { many: settings.lines })
  flush(null)
  const wanted = [options['entries'], options['names']].flat().filter(Boolean).join(', ')
  if (!found) throw wrongFormat('/', 'has none of the members that are its entries', wanted)
}

function state(sink: EntrySink, value: JsonScalar): boolean {
  const day = typeof value === 'number' ? unixDay(value) : statedDay(String(value))
  if (day !== undefined) sink.stated(day)
  return day !== undefined
}

/** Seconds since 1970, if between 2001 and 2100. */
const unixDay = (seconds: number): Day | undefined =>
  seconds >= 1e9 && seconds < 4.1e9 ? dayOf(seconds * 1000) : undefined

/** Returns the reason if there is no entry. */
function entryOf(
  settings: JsonOptions,
  pattern: PathPattern,
  path: JsonPath,
  value: JsonScalar | undefined,
): Entry | string {
  const written = settings.asn && typeof value === 'number' ? String(value) : value
  if (typeof written !== 'string') return 'not a string'
  const trimmed = written.trim()
  if (trimmed === '') return 'empty text'
  const text = settings.asn ? asnText(trimmed) : trimmed
  if (text === undefined) return 'no AS number'
  const name = pattern.serviceIndex < 0 ? '' : String(path[pattern.serviceIndex] ?? '')
  const service = settings.services?.get(name)
  if (pattern.serviceIndex >= 0 && service === undefined) return 'unknown service'
  return {
    text,
    place: pointerOf(path),
    ...(service === undefined ? {} : { provider: service.provider }),
    ...(service?.category === undefined ? {} : { category: service.category }),
    ...(typeof settings.label === 'string' ? { label: settings.label } : {}),
  }
}
