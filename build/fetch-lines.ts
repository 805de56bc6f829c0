// What a person is told of the fetching of a build: one line of figures, and one line a feed that
// could not be had. Where the whole run ended early (no network, no time), one line stands for all
// feeds that it cost.

import { isCost } from './fetch-report.ts'
import type { FetchMode, ObtainedFile } from './fetch/obtain-snapshots.ts'

/** `58 fresh, 2 missing`: of files or of feeds. */
export function statesText(of: readonly { readonly state: string }[]): string {
  const counts = new Map<string, number>()
  for (const { state } of of) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

/** `notices`: what was said of the run as a whole. */
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
    // What ended behind the last feed has cost none.
    return cost.length === 0 ? [] : [`${notice}: ${lost(cost)}`]
  })
  const single = files.filter((file) => !notices.some((notice) => isCost(file, notice, files)))
  return [...late, ...singleLines(single)]
}

/** Feeds of which nothing is stored, where nothing was to be fetched. */
function withoutCopy(files: readonly ObtainedFile[]): readonly string[] {
  const missing = feedsOf(files.filter(({ state }) => state === 'missing'))
  if (missing.length === 0) return []
  const text =
    `${missing.length} feeds have no stored copy, so this table says nothing new by them. ` +
    'Fetch them with `npx iprisk feeds fetch`, then build again.'
  return [text]
}

function lost(files: readonly ObtainedFile[]): string {
  const feeds = feedsOf(files)
  const missing = feedsOf(files.filter(({ state }) => state === 'missing'))
  const stored = 'of the others the last good snapshot is used'
  const rest = missing.length < feeds.length ? `; ${stored}` : ''
  return `${feeds.length} feeds were not fetched, ${missing.length} of them have no stored copy${rest}`
}

/** One line a problem, with the feeds that have it. */
function singleLines(files: readonly ObtainedFile[]): readonly string[] {
  const byProblem = new Map<string, ObtainedFile[]>()
  for (const file of files) {
    if (file.problem === undefined) continue
    // What stands in for one that is missing, acceptance says.
    const instead = file.state === 'missing' ? '' : ' (its last good snapshot is used)'
    const text = `${file.problem}${instead}`
    byProblem.set(text, [...(byProblem.get(text) ?? []), file])
  }
  return [...byProblem].map(([problem, those]) => `${feedsOf(those).join(', ')}: ${problem}`)
}

function feedsOf(files: readonly ObtainedFile[]): readonly string[] {
  return [...new Set(files.map(({ feed }) => feed.id))]
}
