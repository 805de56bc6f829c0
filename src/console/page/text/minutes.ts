// Minutes of traffic as they come in: the last one of an answer is of the minute that runs, and
// comes again with more until it is over.

import type { TrafficView } from '../../../api/admin-answers.ts'

export type Minutes = TrafficView['minutes']

/** What is known with what came: a minute that came again takes the place of itself. */
export function joinMinutes(known: Minutes, came: Minutes, max: number): Minutes {
  const from = came[0]?.at
  const before = from === undefined ? known : known.filter(({ at }) => at < from)
  return [...before, ...came].slice(-max)
}

/** Those that are over. */
export function wholeMinutes(minutes: Minutes): Minutes {
  return minutes.slice(0, -1)
}
