// The acts on lists: each reads the catalogue, makes the next one, and replaces it; if another act
// was faster it starts over. The caller records who acted (lists/acts.ts).
// Invariants: an act is atomic; new chunks are stored before the catalogue that refers to them,
// and removed after the last one that does; the limits of list-limits.ts hold after every act.

import { IpriskError, environmentError } from '../base/coded-error.ts'
import type { ListAct, ListCatalogue, StoredList, UndoableAct } from './list-catalogue.ts'
import { chunkIdsOf, listNamed, parseCatalogue } from './list-catalogue.ts'
import { chunkMadeAt } from './list-chunk.ts'
import { type EntryChanges, type ListState, countChanges, mergeEntries } from './merge-entries.ts'
import { type ListEntry, listError } from './list-entry.ts'
import {
  isReportedList,
  listEntriesMax,
  listNameForm,
  listPrefixesMax,
  listsMax,
  undoActsMax,
} from './list-limits.ts'
import type { ListEffect } from '../model/kind.ts'
import type { ListStore } from './list-store.ts'

const triesMax = 100

/** A running act may still refer to a younger chunk. */
const orphanSecondsMin = 3600

export interface ListChange {
  readonly act: ListAct
  readonly list: string
  readonly before: StoredList | undefined
  readonly after: StoredList | undefined
  readonly added: number
  readonly changed: number
  readonly removed: number
}

type Plan = Omit<ListChange, 'after'> & {
  readonly after: ListState | undefined
  readonly undoes?: number
}

interface Moment {
  readonly store: ListStore
  readonly now: number
}

async function change(
  { store, now }: Moment,
  plan: (catalogue: ListCatalogue) => Promise<Plan> | Plan,
): Promise<ListChange> {
  let missedTag: string | undefined
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { tag, text } = await store.catalogue()
    const catalogue = parseCatalogue(text)
    const planned = await planOf(catalogue, plan)
    if (planned instanceof IpriskError) {
      // Unchanged, so no other act removed the chunk: it is lost.
      if (tag === missedTag) throw planned
      missedTag = tag
      continue
    }
    const { after, undoes, ...rest } = planned
    const list = after?.list
    const lists = catalogue.lists.filter(({ name }) => name !== rest.list)
    const next: ListCatalogue = {
      format: 1,
      lists: list === undefined ? lists : [...lists, list].sort(byName),
      acts:
        undoes === undefined
          ? newestActs([...catalogue.acts, actOf(rest, now)])
          : catalogue.acts.filter((_, i) => i !== undoes),
    }
    checkLimits(next)
    const made = after?.made ?? []
    await store.putChunks(made.map(({ chunk, text }) => ({ id: chunk.id, text })))
    const done = (await store.replace(tag, JSON.stringify(next))) !== undefined
    const wanted = done ? chunkIdsOf(next) : new Set<string>()
    const doubtful = [...(done ? chunkIdsOf(catalogue) : []), ...made.map(({ chunk }) => chunk.id)]
    await store.removeChunks(doubtful.filter((id) => !wanted.has(id)))
    if (done) return { ...rest, after: list }
  }
  throw environmentError(
    'lists_busy',
    `The lists changed ${triesMax} times during this command. Run it again.`,
    { retryable: true },
  )
}

async function planOf(
  catalogue: ListCatalogue,
  plan: (catalogue: ListCatalogue) => Promise<Plan> | Plan,
): Promise<Plan | IpriskError> {
  try {
    return await plan(catalogue)
  } catch (error) {
    if (error instanceof IpriskError && error.code === 'lists_changed') return error
    throw error
  }
}

const byName = (a: StoredList, b: StoredList): number => (a.name < b.name ? -1 : 1)

function actOf({ act, list, before }: Omit<Plan, 'after' | 'undoes'>, now: number): UndoableAct {
  return { act, list, at: secondsOf(now), before: before ?? null }
}

/** Outcomes act all day, and take no step from people. */
function newestActs(acts: readonly UndoableAct[]): readonly UndoableAct[] {
  const isOurs = ({ list }: UndoableAct): boolean => isReportedList(list)
  const ours = acts.filter(isOurs).slice(-2)
  return [...ours, ...acts.filter((act) => !isOurs(act)).slice(-undoActsMax)]
}

export const secondsOf = (ms: number): number => Math.floor(ms / 1000)

function checkLimits({ lists }: ListCatalogue): void {
  const sum = (of: (list: StoredList) => number): number =>
    lists.reduce((all, list) => all + of(list), 0)
  const limits = [
    [lists.length, listsMax, 'lists'],
    [sum(({ entries }) => entries), listEntriesMax, 'entries in all lists'],
    [sum(({ prefixes }) => prefixes), listPrefixesMax, 'prefixes (ranges may need several)'],
  ] as const
  for (const [count, most, what] of limits) {
    if (count <= most) continue
    throw listError(
      'lists_full',
      `Nothing was changed: there would be ${count} ${what}, more than the limit of ${most}.`,
    )
  }
}

/** Throws `list_unknown`. */
export function knownList(catalogue: ListCatalogue, name: string): StoredList {
  const list = listNamed(catalogue, name)
  if (list !== undefined) return list
  const names = catalogue.lists.map((one) => one.name)
  const there =
    names.length === 0 ? 'There are no lists yet.' : `Existing lists: ${names.join(', ')}.`
  const how = `Create it with "iprisk lists create ${name}".`
  throw listError('list_unknown', `There is no list ${name}. ${there} ${how}`)
}

const noCounts = { added: 0, changed: 0, removed: 0 } as const

/** Throws `list_name`. */
export function checkListName(name: string): void {
  if (listNameForm.test(name)) return
  throw listError(
    'list_name',
    `${JSON.stringify(name)} is not a valid list name: use up to 32 lower-case letters, digits ` +
      'and dashes, beginning with a letter.',
  )
}

export async function createList(
  moment: Moment,
  { name, effect }: { readonly name: string; readonly effect: ListEffect },
): Promise<ListChange> {
  checkListName(name)
  if (isReportedList(name) && effect !== 'none') {
    const message = `Outcomes fill the list ${name}, so its effect is none: choose another name.`
    throw listError('list_effect', message)
  }
  return change(moment, (catalogue) => {
    const before = listNamed(catalogue, name)
    if (before !== undefined) {
      throw listError(
        'list_exists',
        `The list ${name} already exists; its effect is ${before.effect}.`,
      )
    }
    const created = secondsOf(moment.now)
    const list = { name, effect, created, entries: 0, prefixes: 0, chunks: [] }
    return { act: 'create', list: name, before, after: { list, made: [] }, ...noCounts }
  })
}

export function deleteList(moment: Moment, name: string): Promise<ListChange> {
  return change(moment, (catalogue) => {
    const before = knownList(catalogue, name)
    const counts = { ...noCounts, removed: before.entries }
    return { act: 'delete', list: name, before, after: undefined, ...counts }
  })
}

/** Replaces entries with the same key. */
export function addEntries(
  moment: Moment,
  name: string,
  entries: readonly ListEntry[],
): Promise<ListChange> {
  return merge(moment, { act: 'add', name, changes: { put: entries, remove: [] } })
}

/** Missing keys are not counted. */
export function removeEntries(
  moment: Moment,
  name: string,
  keys: readonly string[],
): Promise<ListChange> {
  return merge(moment, { act: 'remove', name, changes: { put: [], remove: keys } })
}

export interface ListImport {
  readonly entries: readonly ListEntry[]
  readonly replace: boolean
  /** Even if that leaves none: an empty file is mostly a failed download. */
  readonly force: boolean
  /** The file's; an import does not change the list's. */
  readonly effect?: ListEffect | undefined
}

/** Throws `list_effect` and `list_emptied`. */
export function checkImport(before: StoredList, { entries, replace, force, effect }: ListImport) {
  const { name } = before
  if (effect !== undefined && effect !== before.effect) {
    throw listError(
      'list_effect',
      `Nothing was imported: the lines give the list ${name} the effect ${effect}, but it has ` +
        `${before.effect}. Delete it first, or import the lines into another list.`,
    )
  }
  if (replace && entries.length === 0 && before.entries > 0 && !force) {
    throw listError(
      'list_emptied',
      `Nothing was imported: there are no entries, and replacing would empty the list ` +
        `${name}. To empty it, add --force.`,
    )
  }
}

export function importEntries(
  moment: Moment,
  name: string,
  asked: ListImport,
): Promise<ListChange> {
  const changes = { put: asked.entries, remove: [] }
  const check = (before: StoredList): void => checkImport(before, asked)
  return merge(moment, { act: 'import', name, changes, replace: asked.replace, check })
}

function merge(
  moment: Moment,
  what: {
    readonly act: ListAct
    readonly name: string
    readonly changes: EntryChanges
    readonly replace?: boolean
    readonly check?: (before: StoredList) => void
  },
): Promise<ListChange> {
  const { act, name, changes, replace = false, check } = what
  return change(moment, async (catalogue) => {
    const before = knownList(catalogue, name)
    check?.(before)
    const { counts, ...after } = await mergeEntries(moment, before, { ...changes, replace })
    return { act, list: name, before, after, ...counts }
  })
}

/** Restores what the newest act found, of one list or of all of people; throws `undo_none`. */
export function undoAct(moment: Moment, name?: string): Promise<ListChange> {
  return change(moment, async ({ acts, lists }) => {
    const undoes = acts.findLastIndex(({ list }) =>
      name === undefined ? !isReportedList(list) : list === name,
    )
    const act = acts[undoes]
    if (act === undefined) {
      const of = name === undefined ? '' : ` of ${name}`
      throw listError(
        'undo_none',
        `There is no change${of} to undo; the last ${undoActsMax} are kept.`,
      )
    }
    const before = lists.find((list) => list.name === act.list)
    const after = act.before === null ? undefined : { list: act.before, made: [] }
    const counts = await countChanges(moment.store, before, after?.list)
    return { act: 'undo', list: act.list, before, after, undoes, ...counts }
  })
}

/** Left by killed processes; returns how many. */
export async function removeOrphans({ store, now }: Moment): Promise<number> {
  const ids = await store.chunkIds()
  const { text } = await store.catalogue()
  const wanted = chunkIdsOf(parseCatalogue(text))
  const oldest = secondsOf(now) - orphanSecondsMin
  const orphans = ids.filter((id) => !wanted.has(id) && !(chunkMadeAt(id) > oldest))
  await store.removeChunks(orphans)
  return orphans.length
}
