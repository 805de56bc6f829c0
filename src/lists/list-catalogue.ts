// The catalogue: which lists there are, of which chunks each consists, and what the last acts can
// be undone to. One text, replaced as a whole, so that a reader sees an act done or not done.

import { IpriskError } from '../base/coded-error.ts'
import type { ListChunk } from './list-chunk.ts'
import type { ListEffect } from '../config/list-effects.ts'

export interface StoredList {
  readonly name: string
  readonly effect: ListEffect
  /** Seconds since the epoch. */
  readonly created: number
  readonly entries: number
  /** How many prefixes its entries come to. */
  readonly prefixes: number
  readonly chunks: readonly ListChunk[]
}

export const listActs = ['create', 'add', 'remove', 'import', 'delete', 'undo'] as const
export type ListAct = (typeof listActs)[number]

/** What an act changed, and what it can be undone to. */
export interface UndoableAct {
  readonly act: ListAct
  readonly list: string
  /** Seconds since the epoch. */
  readonly at: number
  readonly before: StoredList | null
}

export interface ListCatalogue {
  readonly format: 1
  /** By name. */
  readonly lists: readonly StoredList[]
  /** Oldest first. */
  readonly acts: readonly UndoableAct[]
}

const emptyCatalogue: ListCatalogue = { format: 1, lists: [], acts: [] }

/** `''` is a store without lists. */
export function parseCatalogue(text: string): ListCatalogue {
  if (text === '') return emptyCatalogue
  const value = JSON.parse(text) as Omit<ListCatalogue, 'format'> & { readonly format: number }
  if (value.format === 1) return { ...value, format: 1 }
  throw new IpriskError({
    code: 'lists_unusable',
    message:
      `The lists in the store have format ${String(value.format)}, and this version of iprisk ` +
      'reads format 1: use the version that wrote them, or a newer one.',
    fault: 'environment',
  })
}

export function listNamed({ lists }: ListCatalogue, name: string): StoredList | undefined {
  return lists.find((list) => list.name === name)
}

/** The ids of all chunks that a list, or an act that can be undone, refers to. */
export function chunkIdsOf({ lists, acts }: ListCatalogue): Set<string> {
  const states = [...lists, ...acts.flatMap(({ before }) => before ?? [])]
  return new Set(states.flatMap(({ chunks }) => chunks.map(({ id }) => id)))
}
