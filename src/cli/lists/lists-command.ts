// The commands `iprisk lists …`. They return once the running servers use the change; lists/acts.ts
// decides what acts may do, and logs them.

import {
  type ListRequest,
  type ListResult,
  actOnLists,
  checkListRequest,
} from '../../lists/acts.ts'
import { inputError, usageError } from '../../base/coded-error.ts'
import { moreText } from '../../base/text/shortened-list.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import type { Settings } from '../../config/settings.ts'
import { listFileBytesMax } from '../../lists/list-limits.ts'
import { entryJson, entryLine, formatExpiry } from '../../lists/list-text.ts'
import { previewImport } from '../../lists/import/preview.ts'
import {
  checkListFile,
  type ListFile,
  listFileWarnings,
  type ParsedList,
  readListFile,
} from '../../lists/import/read-list-file.ts'
import { type ListCatalogue, listNamed, parseCatalogue } from '../../lists/list-catalogue.ts'
import { checkImport, knownList, removeOrphans } from '../../lists/change-lists.ts'
import type { ListEntry } from '../../lists/list-entry.ts'
import type { ListStore } from '../../lists/list-store.ts'
import {
  type CommandIo,
  type StoreCommand,
  withStores,
  unwrittenTo,
  withStoresToRead,
} from '../keys/key-session.ts'
import { readEntries } from '../../lists/merge-entries.ts'
import { notifyServers } from '../../supervisor/sockets/control-socket.ts'
import { readInputFile } from '../terminal/input-file.ts'
import {
  type AskIo,
  type Command,
  confirm,
  printLines,
  printResult,
  printTable,
  warn,
} from '../terminal/io.ts'

async function act(settings: Settings, io: CommandIo, request: ListRequest): Promise<void> {
  const result = await withStores(settings, async (stores) =>
    actOn(settings, io, await stores.openLists(), request),
  )
  report(settings, io, result)
  await notifyServers(settings, 'lists', io.err)
}

function actOn(
  { state }: Settings,
  io: CommandIo,
  store: ListStore,
  request: ListRequest,
): Promise<ListResult> {
  return actOnLists({ state, store, now: io.now, onUnwritten: unwrittenTo(io) }, request)
}

function resultJson({ act, list, after, added, changed, removed }: ListResult): object {
  const now = after === undefined ? null : { effect: after.effect, entries: after.entries }
  return { act, list, added, changed, removed, now }
}

function report({ invocation }: Settings, io: CommandIo, result: ListResult): void {
  for (const caution of result.cautions) warn(io, `${caution}.`)
  printResult(io, invocation.json, resultJson(result), () => [resultText(result)])
}

function resultText({ act, list, before, after, ...counts }: ListResult): string {
  if (after === undefined) {
    return act === 'undo' && before !== undefined
      ? `The list ${list} did not exist before that change; it was deleted again.`
      : `The list ${list} is deleted; "iprisk lists undo ${list}" restores it.`
  }
  if (act === 'create') return `Created the list ${list} with effect ${after.effect}.`
  const words = (['added', 'changed', 'removed'] as const).flatMap((name) =>
    counts[name] > 0 ? [`${formatCount(counts[name])} ${name}`] : [],
  )
  const what = words.length === 0 ? 'nothing changed' : words.join(', ')
  const undone = act === 'undo' ? 'undone: ' : ''
  return `${list}: ${undone}${what}; it has ${formatCounted(after.entries, 'entry', 'entries')}.`
}

export const listsCreate: StoreCommand = (settings, io, [list = '']) =>
  act(settings, io, { act: 'create', list, effect: settings.invocation.effect })

export const listsDelete: StoreCommand = (settings, io, [list = '']) =>
  act(settings, io, { act: 'delete', list })

export const listsAdd: StoreCommand = (settings, io, [list = '', ...entries]) => {
  const { for: forMs, note, force } = settings.invocation
  return act(settings, io, { act: 'add', list, entries, force, forMs, note })
}

export const listsRemove: StoreCommand = (settings, io, [list = '', ...entries]) =>
  act(settings, io, { act: 'remove', list, entries })

export const listsUndo: StoreCommand = (settings, io, [list]) =>
  act(settings, io, { act: 'undo', list })

/** A file of any form for the list NAME, or lines that name their lists; all lists are checked, and
 * on a terminal the user is asked, before the first import. */
export const listsImport: Command<Promise<void>, CommandIo & AskIo> = async (
  settings,
  io,
  [path = '', name],
) => {
  const origin = path === '-' ? 'standard input' : path
  const text = await readInputFile(path, {
    bytesMax: listFileBytesMax,
    code: 'lists_file',
    what: `The file of entries ${path}`,
    takesPipes: true,
  })
  const file = readListFile(text, io.now, origin)
  const lists = new Map(file.lists)
  const isEmpty = file.good + file.bad.count === 0
  if (name === undefined && !file.namesLists && !isEmpty) {
    throw usageError(
      `The lines of ${origin} name no list; "iprisk lists import ${path} NAME" imports them into one.`,
    )
  }
  if (name !== undefined && file.namesLists) {
    throw usageError(`The lines of ${origin} name their own lists; leave out ${name}.`)
  }
  // An empty file means an empty list.
  if (name !== undefined && lists.size === 0) lists.set('', { effect: undefined, entries: [] })
  if (isEmpty) warn(io, `${origin} has no entries.`)
  await withStores(settings, async (stores) => {
    const store = await stores.openLists()
    const catalogue = await catalogueOf(store)
    const { invocation } = settings
    const isAllowed = listNamed(catalogue, name ?? '')?.effect === 'allow'
    checkListFile(file, { ...invocation, strict: invocation.strict || isAllowed })
    const requests = [...lists].flatMap(([own, lines]) =>
      importRequests(catalogue, name ?? own, lines, invocation),
    )
    for (const request of requests) checkListRequest(io, request)
    await showImport(io, store, file)
    const names = [...lists.keys()].map((own) => name ?? own).join(', ')
    const question = invocation.replace
      ? `Replace all entries of ${names}?`
      : `Import into ${names}?`
    if (!invocation.yes && names !== '' && !(await confirm(io, question))) {
      throw inputError('lists_file', 'Nothing was imported.')
    }
    for (const request of requests) report(settings, io, await actOn(settings, io, store, request))
    await removeOrphans({ store, now: io.now })
  })
  await notifyServers(settings, 'lists', io.err)
}

/** What was read and what it would change, shown before anything is done. */
async function showImport(io: CommandIo, store: ListStore, file: ListFile): Promise<void> {
  for (const [text = '', ...lines] of listFileWarnings(file)) {
    warn(io, text)
    printLines({ out: io.err }, lines)
  }
  if (file.good > 0) printLines({ out: io.err }, (await previewImport(store, file)).lines)
}

/** Throws if existing lists do not match the lines. */
function importRequests(
  catalogue: ListCatalogue,
  list: string,
  { effect, entries }: ParsedList,
  { replace, force }: Settings['invocation'],
): readonly ListRequest[] {
  const request = { act: 'import', list, entries, replace, force, effect } as const
  if (effect !== undefined && listNamed(catalogue, list) === undefined) {
    return [{ act: 'create', list, effect }, request]
  }
  checkImport(knownList(catalogue, list), request)
  return [request]
}

const shownMax = 1000

function withListsToRead<T>(settings: Settings, use: (store: ListStore) => Promise<T>): Promise<T> {
  return withStoresToRead(settings, async (stores) => use(await stores.openLists()))
}

const catalogueOf = async (store: ListStore): Promise<ListCatalogue> =>
  parseCatalogue((await store.catalogue()).text)

export async function listsList(settings: Settings, io: CommandIo): Promise<void> {
  const { lists } = await withListsToRead(settings, catalogueOf)
  if (settings.invocation.json) {
    for (const { name, effect, created, entries } of lists) {
      io.out(JSON.stringify({ name, effect, entries, created: formatExpiry(created) }))
    }
    return
  }
  if (lists.length === 0) {
    io.out('There are no lists. Create one with "iprisk lists create NAME --effect allow|block".')
    return
  }
  const rows = lists.map(({ name, effect, entries, created }) => [
    name,
    effect,
    formatCount(entries),
    formatExpiry(created),
  ])
  printTable(io, ['NAME', 'EFFECT', 'ENTRIES', 'CREATED'], rows)
}

/** In address order, without expired ones. */
async function entriesOf(
  store: ListStore,
  name: string,
  now: number,
): Promise<readonly ListEntry[]> {
  const { chunks } = knownList(await catalogueOf(store), name)
  const entries = await readEntries(store, chunks)
  return entries.filter(({ expires }) => expires === 0 || expires * 1000 > now)
}

export const listsShow: StoreCommand = async (settings, io, [name = '']) => {
  await withListsToRead(settings, async (store) => {
    const { effect } = knownList(await catalogueOf(store), name)
    const entries = await entriesOf(store, name, io.now)
    const shown = entries.slice(0, shownMax)
    if (settings.invocation.json) {
      io.out(JSON.stringify({ name, effect, entries: entries.length, shown: shown.map(entryJson) }))
      return
    }
    const count = formatCounted(entries.length, 'entry', 'entries')
    io.out(`${name}: effect ${effect}, ${count}`)
    const rows = shown.map((entry) => {
      const { entry: text, added, expires = 'never', note = '' } = entryJson(entry)
      return [text, added, expires, note]
    })
    if (rows.length > 0) printTable(io, ['ENTRY', 'ADDED', 'EXPIRES', 'NOTE'], rows)
    const more = moreText(entries.length - shownMax, formatCount)
    if (more !== '') io.out(`… ${more}: "iprisk lists export ${name}" shows all.`)
  })
}

/** In a form that `lists import` takes. */
export const listsExport: StoreCommand = async (settings, io, [name]) => {
  await withListsToRead(settings, async (store) => {
    if (name !== undefined && !settings.invocation.json) {
      for (const entry of await entriesOf(store, name, io.now)) io.out(entryLine(entry))
      return
    }
    const { lists } = await catalogueOf(store)
    for (const { name: list, effect } of lists) {
      if (name !== undefined && name !== list) continue
      io.out(JSON.stringify({ list, effect }))
      for (const entry of await entriesOf(store, list, io.now)) {
        io.out(JSON.stringify({ list, ...entryJson(entry) }))
      }
    }
  })
}
