// A feed, data set or hand-kept table that contributed to a table.

import type { Day } from '../../base/day.ts'
import type { Voice } from '../../model/evidence.ts'

/**
 * How a feed's word counts, and the 80 percent interval of its weight
 * (build/evidence/source-list.ts).
 */
export interface SourceVoice extends Omit<Voice, 'id'> {
  readonly weightLow: number
  readonly weightHigh: number
}

/** A feed or data set that went into the table, with what its licence asks to be said. */
export interface Source {
  readonly id: string
  readonly kind: string
  readonly provider: string
  readonly licence: string
  readonly homepage: string
  /** Day of the snapshot used. */
  readonly day: Day
  readonly entries: number
  /** Acceptance keeps its newest snapshot out; `day` is that of the last good one. */
  readonly quarantined?: boolean
  /** Only of what makes evidence. */
  readonly voice?: SourceVoice
}

/** The data sets under every table: whose the space is, and where. */
export type DataSetName = 'networks' | 'places'

/** `undefined` for a feed. Feeds have a voice, data sets none. */
export function dataSetOf({
  kind,
  voice,
}: Pick<Source, 'kind' | 'voice'>): DataSetName | undefined {
  if (voice !== undefined) return undefined
  if (kind === 'network') return 'networks'
  return kind === 'location' ? 'places' : undefined
}
