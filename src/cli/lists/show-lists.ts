// The commands `iprisk lists list|show|export`: what the lists hold. They change nothing.

import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import type { Settings } from '../../config/settings.ts'
import { knownList } from '../../lists/change-lists.ts'
import { type ListCatalogue, parseCatalogue } from '../../lists/list-catalogue.ts'
import type { ListEntry } from '../../lists/list-entry.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { entryJson, entryLine, formatExpiry } from '../../lists/list-text.ts'
import { readEntries } from '../../lists/merge-entries.ts'
import { type CommandIo, withStoresToRead } from '../keys/key-session.ts'
import { withLists } from './lists-command.ts'

/** Of a long list `show` prints so many; `export` prints all. */
const shownMax = 1000

const catalogueOf = async (store: ListStore): Promise<ListCatalogue> =>
  parseCatalogue((await store.catalogue()).text)

export async function listsList(settings: Settings, io: CommandIo): Promise<void> {
  const { lists } = await withLists(withStoresToRead, settings, catalogueOf)
  if (settings.invocation.json) {
    for (const { name, effect, created, entries } of lists) {
      io.out(JSON.stringify({ name, effect, entries, created: formatExpiry(created) }))
    }
    return
  }
  if (lists.length === 0) {
    io.out('There is no list. "iprisk lists create NAME --effect allow|block" makes one.')
    return
  }
  const rows = lists.map(({ name, effect, entries, created }) => [
    name,
    effect,
    formatCount(entries),
    formatExpiry(created),
  ])
  const head = ['NAME', 'EFFECT', 'ENTRIES', 'CREATED']
  for (const line of alignColumns([head, ...rows], head.length)) io.out(line)
}

/** Those that have not expired, in the order of addresses. */
async function entriesOf(
  store: ListStore,
  name: string,
  now: number,
): Promise<readonly ListEntry[]> {
  const { chunks } = knownList(await catalogueOf(store), name)
  const entries = await readEntries(store, chunks)
  return entries.filter(({ expires }) => expires === 0 || expires * 1000 > now)
}

export async function listsShow(
  settings: Settings,
  [name = '']: readonly string[],
  io: CommandIo,
): Promise<void> {
  await withLists(withStoresToRead, settings, async (store) => {
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
    const head = ['ENTRY', 'ADDED', 'EXPIRES', 'NOTE']
    if (rows.length > 0) for (const line of alignColumns([head, ...rows], head.length)) io.out(line)
    const more = entries.length - shown.length
    if (more > 0) io.out(`… and ${formatCount(more)} more: "iprisk lists export ${name}" has all.`)
  })
}

/** `lists export [NAME]`: lines of one list, or JSON lines of all, as `lists import` takes them. */
export async function listsExport(
  settings: Settings,
  [name]: readonly string[],
  io: CommandIo,
): Promise<void> {
  await withLists(withStoresToRead, settings, async (store) => {
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
