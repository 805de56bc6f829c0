// What a person is told of the editions of networks and places that a build uses: one line a reason
// for which nothing newer was had, and one for each edition that was refused.

import { formatDay } from '../src/base/day.ts'
import type { ChosenEdition } from './acceptance/edition-acceptance.ts'
import type { Quarantine } from './acceptance/feed-acceptance.ts'

/** `keepDataSets`: nothing newer was asked for, so that it is no news that nothing came. */
export function editionLines(
  editions: readonly ChosenEdition[],
  { keepDataSets }: { readonly keepDataSets: boolean },
): readonly string[] {
  const byProblem = new Map<string, ChosenEdition[]>()
  for (const edition of keepDataSets ? [] : editions) {
    const { problem } = edition
    if (problem === undefined) continue
    byProblem.set(problem, [...(byProblem.get(problem) ?? []), edition])
  }
  const older = [...byProblem].map(([problem, those]) => {
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

/** The same of any feed that acceptance keeps out. */
export function quarantineLine(id: string, { reasons, instead }: Quarantine): string {
  return `${id} is quarantined: ${reasons.join('; ')} (${instead} is used)`
}
