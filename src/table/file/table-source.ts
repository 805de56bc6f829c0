// A feed, data set or hand-kept table that contributed to a table.

import type { Day } from '../../base/day.ts'
import type { Voice } from '../../model/evidence.ts'

/**
 * How much a feed counts, with its weight's 80 percent interval (build/evidence/source-list.ts).
 */
export interface SourceVoice extends Omit<Voice, 'id'> {
  readonly weightLow: number
  readonly weightHigh: number
}

/** A feed, data set or hand-kept table that contributed to a table. */
export interface Source {
  readonly id: string
  readonly kind: string
  readonly provider: string
  readonly licence: string
  readonly homepage: string
  readonly day: Day
  readonly entries: number
  /** Its newest snapshot is kept out; `day` is that of the last good one. */
  readonly quarantined?: boolean
  /** Only for sources of evidence. */
  readonly voice?: SourceVoice
}

/** Data sets of every table: whose the space is, and where. */
export type DataSetName = 'networks' | 'places'

/** `undefined` for a feed, which has a voice. */
export function dataSetOf({
  kind,
  voice,
}: Pick<Source, 'kind' | 'voice'>): DataSetName | undefined {
  if (voice !== undefined) return undefined
  if (kind === 'network') return 'networks'
  return kind === 'location' ? 'places' : undefined
}
