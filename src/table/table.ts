// What an open table can do, for those who embed it and for the server. Made by `openTable`.

import type { CheckAnswer } from '../api/check-answer.ts'
import type { Day } from '../base/day.ts'
import type { Voice } from '../model/evidence.ts'
import type { AnswerBytes } from './answer/answer-writer.ts'
import type { Asked } from './lookup/query.ts'
import type { Group } from './lookup/lookup-batch.ts'
import type { Located } from './lookup/locate.ts'

/** How a feed's word counts, and between what its weight lies with 80 percent (build/evidence/weight-interval.ts). */
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
  /** A gate keeps its newest snapshot out; `day` is that of the last good one. */
  readonly quarantined?: boolean
  /** Only of what makes evidence. */
  readonly voice?: SourceVoice
}

export interface Table {
  readonly path: string
  /** Hash of the content: the same inputs give the same id. */
  readonly id: string
  /** The day that counts as today for this table. */
  readonly asOf: Day
  readonly bytes: number
  readonly sources: readonly Source[]
  /**
   * The whole answer for an address as text; `undefined` where the text is no address. Its inner
   * objects are frozen, and shared with other answers.
   */
  check(text: string): CheckAnswer | undefined
  /**
   * The same answer as JSON bytes, without an object or a string: exactly JSON.stringify of `check`.
   * `asked.family` must not be 0. What it returns is good until the next call, of any table. `found` is
   * what this table has located it as, where the caller knows that.
   */
  answer(asked: Asked, found?: Located): AnswerBytes
  /** Looks up a group, whose `located` are for `answer`, and reads ahead what those answers need. */
  prepare(group: Group): void
  /** Unmaps the file. Any use afterwards throws; views must not outlive it. */
  close(): void
}
