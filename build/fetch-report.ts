// Whether a build's table lacks what a network would bring. Only feeds count: networks and places
// always have an edition.

import { addTo, groupBy } from '../src/base/counts.ts'
import { formatDay } from '../src/base/day.ts'
import { joinFew } from '../src/base/text/shortened-list.ts'
import type { ChosenEdition } from './acceptance/edition-acceptance.ts'
import type { Quarantine } from './acceptance/accept-feeds.ts'
import type { FetchMode, ObtainedFile } from './fetch/obtain-snapshots.ts'

export type FetchReport = ReturnType<typeof fetchReport>

/** `notices`: problems of the whole run. */
export function fetchReport(
  files: readonly ObtainedFile[],
  { mode, notices }: { readonly mode: FetchMode; readonly notices: readonly string[] },
) {
  const asked = feedsOf(files.filter(({ state }) => state !== 'recent')).length
  const answered = feedsOf(files.filter(hasAnswered)).length
  const ended = notices.findLast((notice) => files.some((file) => isCost(file, notice, files)))
  return {
    /** Feeds requested: all except those with a recent copy. */
    asked,
    /** Feeds for which the publisher or the mirror answered in this run. */
    answered,
    /** Why some were not tried (offline, no network, no time left); null if all were. */
    cut_short: mode.kind === 'offline' ? 'offline' : (ended ?? null),
  }
}

export const isUnanswered = ({ asked, answered }: FetchReport): boolean =>
  asked > 0 && answered === 0

/** Whether the end of the run is why this file is missing. */
const isCost = ({ problem }: ObtainedFile, notice: string, files: readonly ObtainedFile[]) =>
  problem !== undefined && (problem.includes(notice) || !files.some(hasAnswered))

const hasAnswered = ({ state }: ObtainedFile): boolean => state === 'fresh' || state === 'unchanged'

// Warnings about a build's fetches: one line per failed feed, or one line for all feeds lost when
// the run ended early.

/** `58 fresh, 2 missing`: of files or of feeds. */
export function statesText(of: readonly { readonly state: string }[]): string {
  const counts = new Map<string, number>()
  for (const { state } of of) addTo(counts, state)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

export function fetchWarnings(
  files: readonly ObtainedFile[],
  { mode, notices }: { readonly mode: FetchMode; readonly notices: readonly string[] },
): readonly string[] {
  if (mode.kind === 'offline') {
    const damaged = files.filter((file) => file.damaged === true)
    return [...withoutCopy(files.filter((file) => file.damaged !== true)), ...singleLines(damaged)]
  }
  const late = notices.flatMap((notice) => {
    const cost = files.filter((file) => isCost(file, notice, files))
    return cost.length === 0 ? [] : [`${notice}: ${lost(cost)}`]
  })
  const single = files.filter((file) => !notices.some((notice) => isCost(file, notice, files)))
  const lines = singleLines(single)
  if (lines.length <= linesMax) return [...late, ...lines]
  const failed = feedsOf(single.filter(({ problem }) => problem !== undefined))
  const names = joinFew(failed, linesMax)
  const text = `${failed.length} feeds could not be fetched (${names}); \`iprisk feeds list\` shows why`
  return [...late, text]
}

/** More problems become one line; the report has them all. */
const linesMax = 3

function withoutCopy(files: readonly ObtainedFile[]): readonly string[] {
  const missing = feedsOf(files.filter(({ state }) => state === 'missing'))
  if (missing.length === 0) return []
  const text =
    `${missing.length} feeds have no stored copy, so this table has no new data from them. ` +
    'Fetch them with `npx iprisk feeds fetch`, then build again.'
  return [text]
}

function lost(files: readonly ObtainedFile[]): string {
  const feeds = feedsOf(files)
  const missing = feedsOf(files.filter(({ state }) => state === 'missing'))
  const stored = 'the last good snapshots of the others are used'
  const rest = missing.length < feeds.length ? `; ${stored}` : ''
  return `${feeds.length} feeds were not fetched, ${missing.length} of them have no stored copy${rest}`
}

/** One line per problem, with its feeds. */
function singleLines(files: readonly ObtainedFile[]): readonly string[] {
  const late = files.filter(({ problem }) => problem !== undefined)
  // Acceptance reports what replaces missing ones.
  const byProblem = groupBy(late, ({ problem, state }) =>
    state === 'stored' ? `${problem} (its last good snapshot is used)` : `${problem}`,
  )
  return [...byProblem].map(([problem, those]) => `${feedsOf(those).join(', ')}: ${problem}`)
}

function feedsOf(files: readonly ObtainedFile[]): readonly string[] {
  return [...new Set(files.map(({ feed }) => feed.id))]
}

/**
 * Lines about editions of networks and places in use: why nothing newer came, which were refused.
 * `keepDataSets`: nothing newer was requested.
 */
export function editionLines(
  editions: readonly ChosenEdition[],
  { keepDataSets }: { readonly keepDataSets: boolean },
): readonly string[] {
  const late = editions.filter(({ problem }) => problem !== undefined && !keepDataSets)
  const older = [...groupBy(late, ({ problem }) => problem)].map(([problem, those]) => {
    const names = those.map(({ feed }) => feed.id).join(', ')
    const used = those.map(
      ({ feed, from, edition }) => `${from} ${feed.kind} of ${formatDay(edition.day)}`,
    )
    return `${names}: no newer edition (${problem}); used: ${used.join(', ')}`
  })
  const refused = editions.flatMap(({ feed, quarantine }) =>
    quarantine === undefined ? [] : quarantineLine(feed.id, quarantine),
  )
  return [...older, ...refused]
}

export const quarantineLine = (id: string, { reasons, instead }: Quarantine): string =>
  `${id} is quarantined: ${reasons.join('; ')} (${instead} is used)`
