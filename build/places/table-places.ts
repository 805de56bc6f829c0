// The places of a table that is being made: those that were read, and behind them those that its
// verdicts add (country-place.ts).

import type { Location } from '../../src/api/check-answer.ts'
import type { PlaceRuns } from './place-runs.ts'

/** Locations that are made when they are asked for; an array of them is one, too. */
export interface Locations {
  readonly length: number
  at(index: number): Location | undefined
}

/** Id n of `read` is at n - 1; `added` go on behind. */
export interface TablePlaces {
  readonly read: Locations
  readonly runs: PlaceRuns
  readonly added: readonly Location[]
}
