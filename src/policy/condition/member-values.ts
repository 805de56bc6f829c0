// The possible values of an answer's members: words, a form of text, a range of numbers. A literal
// outside them never matches. Invariant: every value that an answer from any table can have is
// allowed.

import { parseDay } from '../../base/day.ts'
import { cleanText } from '../../base/text/clean-text.ts'
import { suggestName } from '../../config/setting-problem.ts'
import { listNameForm, listsMax } from '../../lists/list-limits.ts'
import { continents, countries } from '../../model/countries.ts'
import { travelDoubts } from '../../model/kind.ts'
import { listReasonTexts, reasonCodes } from '../../score/points/reason-codes.ts'
import { closedWords } from './condition-members.ts'

export interface TextValues {
  readonly kind: 'text'
  /** Includes '' if the object may be null. */
  readonly words?: readonly string[]
  readonly allows: (text: string) => boolean
  /** Ends the message about a text that is not allowed: `; did you mean GB?`, or ''. */
  readonly hint: (text: string) => string
  /** Absent if any value is possible. */
  readonly begins?: (text: string) => boolean
  /** Absent if `<` is always meaningful. */
  readonly orders?: (text: string) => boolean
}

export interface NumberValues {
  readonly kind: 'number'
  readonly min: number
  readonly max: number
  readonly values?: readonly number[] | undefined
}

export type MemberValues = TextValues | NumberValues

const numbers = (min: number, max: number, values?: readonly number[]): NumberValues => {
  return { kind: 'number', min, max, values }
}

function wordsOf(
  words: readonly string[],
  hint = (text: string): string => suggestName(text, words.filter(Boolean)),
): TextValues {
  const known = new Set(words)
  return { kind: 'text', words, allows: (text) => known.has(text), hint }
}

const meant = (word: string | undefined): string => {
  return word === undefined ? '' : `; did you mean ${word}?`
}

/** Keyed by each name in lower case: `uk`, `usa`, `germany`. */
const countryBy = new Map(
  countries.flatMap((country) => {
    const { code, alpha3, name, aliases } = country
    return [code, alpha3, name, ...aliases].map((word) => [word.toLowerCase(), country] as const)
  }),
)
for (const [word, code] of Object.entries({ en: 'gb', england: 'gb', el: 'gr', su: 'ru' })) {
  countryBy.set(word, countryBy.get(code)!)
}

const continentBy = new Map<string, readonly [code: string, name: string]>(
  Object.entries(continents).flatMap((entry) =>
    entry.map((word) => [word.toLowerCase(), entry] as const),
  ),
)

/** Words of other services that do not stand for a country. */
const otherCodes: Readonly<Record<string, string>> = {
  XX: '; an unknown country reads as ""',
  ZZ: '; an unknown country reads as ""',
  T1: '; Tor is signals.tor',
  A1: '; proxies are signals.proxy and signals.vpn',
  A2: '; satellite networks have the network.type satellite',
}

function hintOfCode(text: string): string {
  const country = countryBy.get(text.toLowerCase())
  if (country !== undefined) return meant(country.code)
  const continent = continentBy.get(text.toLowerCase())
  if (continent !== undefined) return `; did you mean location.continent_code ${continent[0]}?`
  return otherCodes[text.toUpperCase()] ?? '; it is an ISO 3166-1 code such as GB'
}

const countryNames = countries.map(({ name }) => name)

function hintOfCountry(text: string): string {
  const country = countryBy.get(text.toLowerCase())
  return meant(country?.name) || suggestName(text, countryNames)
}

const continentWords = (words: readonly string[], place: 0 | 1): TextValues =>
  wordsOf([...words, ''], (text) => {
    const continent = continentBy.get(text.toLowerCase())
    if (continent !== undefined) return meant(continent[place])
    const country = countryBy.get(text.toLowerCase())
    if (country !== undefined) return `; did you mean location.country_code ${country.code}?`
    return suggestName(text, words)
  })

const currencies = [...new Set(countries.map(({ currency }) => currency))]

function hintOfCurrency(text: string): string {
  const upper = text.toUpperCase()
  return currencies.includes(upper) ? meant(upper) : '; it is an ISO 4217 code such as EUR'
}

/** The areas of IANA's names in data sets, without country names such as US/Pacific. */
const areas = 'Africa America Antarctica Arctic Asia Atlantic Australia Etc Europe Indian Pacific'
  .split(' ')
  .map((area) => `${area}/`)

function canonicalZone(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** Intl accepts any case. */
function isZone(text: string): boolean {
  if (!areas.some((area) => text.startsWith(area)) || /\/[a-z]/.test(text)) return false
  const canonical = canonicalZone(text)
  if (canonical === undefined) return false
  return canonical === text || canonical.toLowerCase() !== text.toLowerCase()
}

function hintOfZone(text: string): string {
  const canonical = canonicalZone(text)
  if (canonical !== undefined && isZone(canonical)) return meant(canonical)
  const area = areas.find((one) => text.startsWith(one)) ?? 'none'
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.startsWith(area))
  const near = suggestName(text, zones)
  return near === '' ? '; it is an IANA name such as Europe/Berlin' : near
}

const timezone: TextValues = {
  kind: 'text',
  allows: (text) => text === '' || isZone(text),
  hint: hintOfZone,
  begins: (text) => areas.some((area) => area.startsWith(text) || text.startsWith(area)),
}

/** For other date formats, or one with a time. */
function hintOfDay(text: string): string {
  const [, year = '', month = '', date = ''] = /^(\d{4})[-/.]?(\d\d?)[-/.]?(\d\d?)/.exec(text) ?? []
  const written = `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  return parseDay(written) === undefined ? '; it is a day such as 2026-08-22' : meant(written)
}

function isDayFrom(text: string): boolean {
  return parseDay(`${text}${'2000-01-01'.slice(text.length)}`) !== undefined
}

const day: TextValues = {
  kind: 'text',
  allows: (text) => text === '' || parseDay(text) !== undefined,
  hint: hintOfDay,
  begins: isDayFrom,
  // Years and months sort among days.
  orders: (text) => [0, 4, 7, 10].includes(text.length) && isDayFrom(text),
}

/** Cleaned when a table is built. */
const open: TextValues = {
  kind: 'text',
  allows: (text) => cleanText(text) === text,
  hint: (text) => meant(JSON.stringify(cleanText(text))),
}

const listName: TextValues = {
  kind: 'text',
  allows: (text) => listNameForm.test(text),
  begins: (text) => listNameForm.test(text),
  hint: (text) => {
    const name = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
    const rule = '; list names have a–z, 0–9 and -, and begin with a letter'
    return listNameForm.test(name) ? meant(name) : rule
  },
}

const travelKmMax = 20_016

/** Keyed by path; members without a row are booleans. */
export const memberValues: ReadonlyMap<string, MemberValues> = new Map<string, MemberValues>([
  ['risk_score', numbers(0, 100)],
  ['version', numbers(4, 6, [4, 6])],
  ['network.asn', numbers(0, 2 ** 32 - 1)],
  ['location.latitude', numbers(-90, 90)],
  ['location.longitude', numbers(-180, 180)],
  ['proxy.percent_days_seen', numbers(0, 100)],
  ['travel.km', numbers(0, travelKmMax)],
  ['travel.hours', numbers(0, 2 ** 32)],
  ['travel.kmh', numbers(0, travelKmMax * 60)],
  ...[...closedWords].map(([path, words]) => {
    return [path, { ...wordsOf(words), orders: () => false }] as const
  }),
  ['location.country_code', wordsOf([...countries.map(({ code }) => code), ''], hintOfCode)],
  ['location.country', wordsOf([...countryNames, ''], hintOfCountry)],
  ['location.continent_code', continentWords(Object.keys(continents), 0)],
  ['location.continent', continentWords(Object.values(continents), 1)],
  ['location.currency_code', wordsOf([...currencies, ''], hintOfCurrency)],
  ['location.timezone', timezone],
  ['proxy.last_seen_at', day],
  ...[
    'network.organization',
    'location.state',
    'location.city',
    'location.zip',
    'proxy.provider',
    'bot.provider',
    'agent.name',
    'agent.operator',
  ].map((path) => [path, open] as const),
])

const codes = [...reasonCodes, ...Object.keys(listReasonTexts)]

/** Their elements, and the largest number of them. */
export const listValues: ReadonlyMap<
  string,
  { readonly of: TextValues; readonly sizeMax: number }
> = new Map([
  ['reasons', { of: wordsOf(codes), sizeMax: codes.length }],
  ['lists', { of: listName, sizeMax: listsMax }],
  ['travel.unreliable_because', { of: wordsOf(travelDoubts), sizeMax: travelDoubts.length }],
])
