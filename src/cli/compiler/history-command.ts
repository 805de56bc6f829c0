// `iprisk history import FOLDER` and `iprisk history show ADDRESS`.

import type { ImportedFile } from '../../../build/import-history.ts'
import type {
  DayState,
  FeedTimeline,
  AddressTimeline,
} from '../../../build/history/address-timeline.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { usageError } from '../../base/coded-error.ts'
import { type Day, formatDay } from '../../base/day.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import { formatRange, parseRange } from '../../ip/range.ts'
import { loadCompiler } from './load-compiler.ts'
import { type Command, exitCodes, type Io, printResult } from '../terminal/io.ts'

const badLinesShown = 10

/** Fails only if nothing was imported. */
export const historyImport: Command<Promise<number>> = async (
  { build: { history: store, feedsFolder }, invocation: { force, json } },
  io,
  [folder = ''],
) => {
  const { catalogueFolder, importHistory, loadCatalogue } = await loadCompiler(async () => ({
    ...(await import('../../../build/catalogue/load-catalogue.ts')),
    ...(await import('../../../build/import-history.ts')),
  }))
  let feed = ''
  const report = await importHistory(folder, {
    store,
    feeds: loadCatalogue(catalogueFolder, feedsFolder),
    force,
    onFile(file) {
      if (io.errIsTerminal && file.feed !== feed) io.err(`${file.feed} …`)
      feed = file.feed
    },
  })
  for (const name of report.unknownFeeds) {
    io.err(`${name}: unknown feed, folder skipped; \`iprisk feeds list\` shows all feeds`)
  }
  for (const problem of report.problems) io.err(`not imported: ${problem}`)
  for (const line of quarantineLines(report.quarantined, force)) io.err(line)
  for (const line of report.bad.slice(0, badLinesShown)) io.err(`skipped: ${line}`)
  if (report.dropCount > 0) io.err(`skipped: ${formatCounted(report.dropCount, 'line', 'lines')}`)
  const files = report.files.map((file) => ({ ...file, day: formatDay(file.day) }))
  const { unknownFeeds: unknown_feeds, problems, quarantined, dropCount: left_out } = report
  const facts = { store, files, unknown_feeds, problems, quarantined, left_out }
  printResult(io, json, facts, () => [
    ...importTable(report.files),
    `${files.length} snapshots are stored in ${store}`,
  ])
  return report.files.length === 0 ? exitCodes.failed : exitCodes.done
}

function quarantineLines(quarantined: readonly string[], force: boolean): readonly string[] {
  if (quarantined.length === 0) return []
  const head = force ? 'imported with --force' : 'quarantined, not imported'
  const days = formatCounted(quarantined.length, 'day', 'days')
  const way = `${days} quarantined; to accept them, import again with --force`
  return [...quarantined.map((text) => `${head}: ${text}`), ...(force ? [] : [way])]
}

function importTable(files: readonly ImportedFile[]): readonly string[] {
  const byFeed = new Map<string, ImportedFile[]>()
  for (const file of files) byFeed.set(file.feed, [...(byFeed.get(file.feed) ?? []), file])
  const rows = [...byFeed].map(([feed, own]) => {
    const days = own.map(({ day }) => day).sort((a, b) => a - b)
    const sum = (of: (file: ImportedFile) => number): string =>
      formatCount(own.reduce((sum, file) => sum + of(file), 0))
    return [
      feed,
      daySpan(days),
      sum(() => 1),
      sum((file) => (file.state === 'written' ? 1 : 0)),
      sum((file) => file.rowCount),
      sum((file) => file.dropCount),
    ]
  })
  if (rows.length === 0) return []
  return alignColumns([['feed', 'days', 'snapshots', 'new', 'ranges', 'skipped'], ...rows], 2)
}

function daySpan(days: readonly Day[]): string {
  const [first, last] = [days.at(0), days.at(-1)]
  return first === undefined || last === undefined
    ? ''
    : `${formatDay(first)} to ${formatDay(last)}`
}

export const historyShow: Command = (
  { build: { history: store, asOf }, invocation: { json } },
  io,
  [address = ''],
) => {
  return showHistory({ address, store, json, asOf }, io)
}

interface ShowOptions {
  readonly address: string
  readonly store: string
  readonly json: boolean
  /** Default: the newest day with snapshots of two feeds. */
  readonly asOf?: Day | undefined
  readonly dayCount?: number | undefined
  /** Whether the terminal shows `█`; depends on the locale by default. */
  readonly unicode?: boolean | undefined
}

const daysShown = 60

export async function showHistory(options: ShowOptions, io: Io): Promise<void> {
  const { addressTimeline } = await loadCompiler(
    () => import('../../../build/history/address-timeline.ts'),
  )
  const address = parseRange(options.address)
  if (address === undefined || address.first !== address.last) {
    throw usageError(`${options.address} is not an IP address.`)
  }
  const { store, asOf, dayCount = daysShown } = options
  const found = await addressTimeline({ store, address, asOf, dayCount })
  for (const problem of found.problems) io.err(problem)
  const text = formatRange(address)
  if (!options.json && found.feeds.length + found.silent.length === 0) {
    io.err(`There are no snapshots of these days in ${store}; \`iprisk build\` adds one a day.`)
    return
  }
  const marks = (options.unicode ?? isUnicode(process.env)) ? unicodeMarks : asciiMarks
  printResult(io, options.json, jsonOf(text, found), () => historyScreen(text, found, marks))
}

type Marks = Readonly<Record<DayState, string>> & { readonly tick: string }

const unicodeMarks: Marks = { listed: '█', absent: '·', missing: ' ', tick: '│' }
const asciiMarks: Marks = { listed: '#', absent: '.', missing: ' ', tick: '|' }

/** Reads the locale as the C library does. */
export function isUnicode(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = environment
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '')
  return /utf-?8/i.test(locale ?? '')
}

function historyScreen(address: string, found: AddressTimeline, marks: Marks): readonly string[] {
  const { feeds, days, asOf } = found
  const title = `${address}, the ${days.length} days to ${formatDay(asOf)}`
  const silence = silenceOf(found)
  if (feeds.length === 0) return [title, '', 'no feed has listed it', ...silence]
  const rows = feeds.map((one) => [
    one.feed,
    one.states.map((state) => marks[state]).join(''),
    `${one.daysListed} of ${one.daysObserved}`,
    formatDay(one.firstSeen),
    formatDay(one.lastSeen),
    matched(one),
  ])
  const head = [
    'feed',
    monthRuler(days, marks.tick),
    'listed',
    'first seen',
    'last seen',
    'matched',
  ]
  return [
    title,
    '',
    ...alignColumns([head, ...rows], head.length),
    '',
    `${marks.listed} listed   ${marks.absent} not listed   blank: no snapshot of that day`,
    'listed: days out of those shown with a snapshot; first and last seen: over all days kept',
    ...silence,
  ]
}

/** Feeds with a single snapshot are only counted: in a new store that is every feed. */
function silenceOf({ silent }: AddressTimeline): readonly string[] {
  if (silent.length === 0) return []
  const watching = silent.filter(({ daysObserved }) => daysObserved > 1)
  const once = silent.length - watching.length
  const rest = `${formatCounted(once, 'feed', 'feeds')} with only one snapshot in these days`
  const names = watching.map(({ feed }) => feed)
  return ['', ...wrap(`not listed by ${[...names, ...(once > 0 ? [rest] : [])].join(', ')}`)]
}

/** At most a hundred columns; continuation lines are indented. */
function wrap(text: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= 100) {
      lines[lines.length - 1] = `${line} ${word}`
    } else lines.push(line === undefined ? word : `  ${word}`)
  }
  return lines
}

function matched({ ranges }: FeedTimeline): string {
  const more = ranges.length > 1 ? ` and ${ranges.length - 1} wider` : ''
  return `${ranges[0] ?? ''}${more}`
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Ticks and names each first of a month, and the first month if it fits:
 * `Jun    │Jul                           │Aug`. */
export function monthRuler(days: readonly Day[], tick: string): string {
  const columns = days.map(() => ' ')
  const write = (at: number, text: string): void => {
    if (at + text.length <= columns.length) columns.splice(at, text.length, ...text.split(''))
  }
  const monthOf = (day: Day): string => months[Number(formatDay(day).slice(5, 7)) - 1] ?? ''
  const ticks = days.flatMap((day, at) => (formatDay(day).endsWith('-01') ? [at] : []))
  for (const at of ticks) {
    columns[at] = tick
    write(at + 1, monthOf(days[at] as Day))
  }
  const start = days[0]
  if (start !== undefined && (ticks[0] ?? days.length) > 3) write(0, monthOf(start))
  return columns.join('')
}

function jsonOf(address: string, found: AddressTimeline): unknown {
  return {
    address,
    as_of: formatDay(found.asOf),
    days: found.days.map(formatDay),
    feeds: found.feeds.map((one) => ({
      feed: one.feed,
      ranges: one.ranges,
      first_seen: formatDay(one.firstSeen),
      last_seen: formatDay(one.lastSeen),
      days_listed: one.daysListed,
      days_observed: one.daysObserved,
      strip: one.states.map((state) => asciiMarks[state]).join(''),
    })),
    silent: found.silent.map(({ feed }) => feed),
  }
}
