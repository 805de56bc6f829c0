// How far the fetching of a build got: whether its table still lacks what a network would bring.
// Only feeds count: networks and places always have an edition (build/acceptance/edition-acceptance.ts).

import type { FetchMode, ObtainedFile } from './fetch/obtain-snapshots.ts'

export interface FetchReport {
  /** Feeds that were asked for: all but those whose copy is of a short while ago. */
  readonly asked: number
  /** Those of them whose publisher, or the mirror, answered in this run. */
  readonly answered: number
  /** Why some were not even tried (offline, no network, no time left); null where all were. */
  readonly cut_short: string | null
}

/** `notices`: what was said of the run as a whole. */
export function fetchReport(
  files: readonly ObtainedFile[],
  { mode, notices }: { readonly mode: FetchMode; readonly notices: readonly string[] },
): FetchReport {
  const asked = feedsIn(files.filter(({ state }) => state !== 'recent'))
  const answered = feedsIn(files.filter(hasAnswered))
  const ended = notices.findLast((notice) => files.some((file) => isCost(file, notice, files)))
  const cut_short = mode.kind === 'offline' ? 'offline' : (ended ?? null)
  return { asked, answered, cut_short }
}

/** Whether nobody at all answered who was asked. */
export function isUnanswered({ asked, answered }: FetchReport): boolean {
  return asked > 0 && answered === 0
}

/** Whether what ended the run is why this file could not be had. */
export function isCost(
  { problem }: ObtainedFile,
  notice: string,
  files: readonly ObtainedFile[],
): boolean {
  return problem !== undefined && (problem.includes(notice) || !files.some(hasAnswered))
}

/** It came, or its publisher said that the stored copy is the newest. */
const hasAnswered = ({ state }: ObtainedFile): boolean => state === 'fresh' || state === 'unchanged'

const feedsIn = (files: readonly ObtainedFile[]): number =>
  new Set(files.map(({ feed }) => feed.id)).size
