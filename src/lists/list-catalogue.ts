// The catalogue: the lists, their chunks, and the acts that can be undone. One text, replaced as a
// whole, so that readers see an act completely or not at all.

import { type IpriskError, environmentError } from '../base/coded-error.ts'
import { isJsonObject, isWhole, parseJson } from '../base/json-object.ts'
import { type ListChunk, isChunkId } from './list-chunk.ts'
import { listNameForm } from './list-limits.ts'
import { type ListEffect, listEffects } from '../model/kind.ts'

export interface StoredList {
  readonly name: string
  readonly effect: ListEffect
  /** Seconds since the epoch. */
  readonly created: number
  readonly entries: number
  readonly prefixes: number
  readonly chunks: readonly ListChunk[]
}

export const listActs = ['create', 'add', 'remove', 'import', 'delete', 'undo'] as const
export type ListAct = (typeof listActs)[number]

export interface UndoableAct {
  readonly act: ListAct
  readonly list: string
  /** Seconds since the epoch. */
  readonly at: number
  readonly before: StoredList | null
}

export interface ListCatalogue {
  readonly format: 1
  readonly lists: readonly StoredList[]
  /** Oldest first. */
  readonly acts: readonly UndoableAct[]
}

const emptyCatalogue: ListCatalogue = { format: 1, lists: [], acts: [] }

/** `''` is a store without lists. Throws `lists_unusable`. */
export function parseCatalogue(text: string): ListCatalogue {
  if (text === '') return emptyCatalogue
  const value = parseJson(text)
  if (value === undefined) throw damagedError('it is not JSON')
  if (!isJsonObject(value)) throw damagedError('it is not an object')
  const { format, lists, acts } = value
  if (format !== 1) {
    throw unusableError(
      `The lists in the store have format ${JSON.stringify(format)}, and this version of iprisk ` +
        'reads format 1; use the version that wrote them, or a newer one.',
    )
  }
  if (!Array.isArray(lists) || !Array.isArray(acts)) throw damagedError('it has no lists')
  const list = lists.findIndex((one) => !isStoredList(one))
  if (list >= 0) throw damagedError(`its list ${list + 1}${nameIn(lists[list])} is malformed`)
  const names = lists.map(({ name }) => name as string)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw damagedError(`it has the list ${twice} twice`)
  const act = acts.findIndex((one) => !isUndoableAct(one))
  if (act >= 0) throw damagedError(`its act ${act + 1} is malformed`)
  return value as unknown as ListCatalogue
}

const isListName = (name: unknown): name is string =>
  typeof name === 'string' && listNameForm.test(name)

const nameIn = (list: unknown): string =>
  isJsonObject(list) && isListName(list['name']) ? `, ${list['name']},` : ''

function isStoredList(value: unknown): value is StoredList {
  if (!isJsonObject(value)) return false
  const { name, effect, created, entries, prefixes, chunks } = value
  return (
    isListName(name) &&
    listEffects.some((one) => one === effect) &&
    [created, entries, prefixes].every((count) => isWhole(count)) &&
    Array.isArray(chunks) &&
    chunks.every(isChunk)
  )
}

function isChunk(value: unknown): value is ListChunk {
  if (!isJsonObject(value)) return false
  const { id, first, entries, soonest } = value
  return isChunkId(id) && typeof first === 'string' && isWhole(entries) && isWhole(soonest)
}

function isUndoableAct(value: unknown): value is UndoableAct {
  if (!isJsonObject(value)) return false
  const { act, list, at, before } = value
  const isKnown = listActs.some((one) => one === act) && isListName(list) && isWhole(at)
  return isKnown && (before === null || isStoredList(before))
}

function damagedError(why: string): IpriskError {
  return unusableError(
    `The catalogue of own lists is damaged: ${why}. ` +
      'Restore it from a backup with "iprisk state restore FILE".',
  )
}

function unusableError(message: string): IpriskError {
  return environmentError('lists_unusable', message)
}

export function listNamed({ lists }: ListCatalogue, name: string): StoredList | undefined {
  return lists.find((list) => list.name === name)
}

/** For lists, and for acts that can be undone. */
export function chunkIdsOf({ lists, acts }: ListCatalogue): Set<string> {
  const states = [...lists, ...acts.flatMap(({ before }) => before ?? [])]
  return new Set(states.flatMap(({ chunks }) => chunks.map(({ id }) => id)))
}
