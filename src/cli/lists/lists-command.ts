// The commands `iprisk lists create|delete|add|remove|undo|import`: acts on own lists. What they
// may do and how it is recorded is lists/acts/list-acts.ts; listings are show-lists.ts. A command
// returns when the running servers answer by what it did.

import {
  type ListRequest,
  type ListResult,
  actOnLists,
  checkListRequest,
} from '../../lists/acts/list-acts.ts'
import { IpriskError, messageOf, usageError } from '../../base/coded-error.ts'
import { readBoundedFile, readDescriptor } from '../../base/system/bounded-file.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
import { optionalMember } from '../../base/optional-member.ts'
import type { Settings } from '../../config/settings.ts'
import { listFileBytesMax } from '../../lists/list-limits.ts'
import { type ParsedList, parseListText } from '../../lists/list-text.ts'
import { type ListCatalogue, listNamed, parseCatalogue } from '../../lists/list-catalogue.ts'
import { checkImport, knownList, removeOrphans } from '../../lists/change-lists.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { type CommandIo, withStores } from '../keys/key-session.ts'
import { tellServers } from '../keys/tell-servers.ts'

/** Opens the lists that the settings name, in the stores that `open` opens. */
export function withLists<T>(
  open: typeof withStores<T>,
  settings: Settings,
  use: (store: ListStore) => Promise<T>,
): Promise<T> {
  return open(settings, async (stores) => use(await stores.openLists()))
}

async function act(settings: Settings, io: CommandIo, request: ListRequest): Promise<void> {
  report(
    settings,
    io,
    await withLists(withStores, settings, (store) => actOn(settings, io, store, request)),
  )
  await tellServers(settings, io, 'lists')
}

function actOn(
  { state }: Settings,
  io: CommandIo,
  store: ListStore,
  request: ListRequest,
): Promise<ListResult> {
  const onUnwritten = ({ message }: IpriskError): void => io.err(`iprisk: ${message}`)
  return actOnLists({ state, store, now: io.now, onUnwritten }, request)
}

/** What an act did, as JSON says it. */
export function resultJson({ act, list, after, added, changed, removed }: ListResult): object {
  const now = after === undefined ? null : { effect: after.effect, entries: after.entries }
  return { act, list, added, changed, removed, now }
}

function report({ invocation }: Settings, io: CommandIo, result: ListResult): void {
  for (const caution of result.cautions) io.err(`iprisk: warning: ${caution}.`)
  if (invocation.json) io.out(JSON.stringify(resultJson(result)))
  else io.out(resultText(result))
}

function resultText({ act, list, before, after, ...counts }: ListResult): string {
  if (after === undefined) {
    return act === 'undo' && before !== undefined
      ? `There was no list ${list} before that act; it is gone again.`
      : `The list ${list} is gone; "iprisk lists undo ${list}" brings it back.`
  }
  if (act === 'create') return `The list ${list} is made; its effect is ${after.effect}.`
  const words = (['added', 'changed', 'removed'] as const).flatMap((name) =>
    counts[name] > 0 ? [`${formatCount(counts[name])} ${name}`] : [],
  )
  const what = words.length === 0 ? 'nothing changed' : words.join(', ')
  const undone = act === 'undo' ? 'undone: ' : ''
  return `${list}: ${undone}${what}; it has ${formatCounted(after.entries, 'entry', 'entries')}.`
}

export function listsCreate(settings: Settings, [list = '']: Args, io: CommandIo): Promise<void> {
  return act(settings, io, { act: 'create', list, effect: settings.invocation.effect })
}

export function listsDelete(settings: Settings, [list = '']: Args, io: CommandIo): Promise<void> {
  return act(settings, io, { act: 'delete', list })
}

export function listsAdd(
  settings: Settings,
  [list = '', ...entries]: Args,
  io: CommandIo,
): Promise<void> {
  const { for: forMs, note, force } = settings.invocation
  const more = { ...optionalMember('forMs', forMs), ...optionalMember('note', note) }
  return act(settings, io, { act: 'add', list, entries, force, ...more })
}

export function listsRemove(
  settings: Settings,
  [list = '', ...entries]: Args,
  io: CommandIo,
): Promise<void> {
  return act(settings, io, { act: 'remove', list, entries })
}

export function listsUndo(settings: Settings, [list]: Args, io: CommandIo): Promise<void> {
  return act(settings, io, { act: 'undo', ...optionalMember('list', list) })
}

type Args = readonly string[]

/**
 * `lists import FILE [NAME]`: lines for the list NAME, or JSON lines that name their lists. Of a
 * file with several lists all are judged before the first one is taken in.
 */
export async function listsImport(
  settings: Settings,
  [path = '', name]: Args,
  io: CommandIo,
): Promise<void> {
  const origin = path === '-' ? 'standard input' : path
  const lists = parseListText(readListFile(path), io.now, origin)
  if (name === undefined && lists.has('')) {
    throw usageError(
      `Lines of ${origin} name no list: "iprisk lists import ${path} NAME" takes them into one.`,
    )
  }
  if (name !== undefined && [...lists.keys()].some((list) => list !== '')) {
    throw usageError(`The lines of ${origin} name their lists themselves; leave ${name} out.`)
  }
  // A file without lines is one without entries for the list that was named.
  if (name !== undefined && lists.size === 0) lists.set('', { effect: undefined, entries: [] })
  if (lists.size === 0) io.err(`iprisk: warning: there is no entry in ${origin}.`)
  await withLists(withStores, settings, async (store) => {
    const catalogue = parseCatalogue((await store.catalogue()).text)
    const requests = [...lists].flatMap(([own, lines]) =>
      importRequests(catalogue, name ?? own, lines, settings.invocation),
    )
    for (const request of requests) checkListRequest(io, request)
    for (const request of requests) report(settings, io, await actOn(settings, io, store, request))
    await removeOrphans({ store, now: io.now })
  })
  await tellServers(settings, io, 'lists')
}

/** Throws where the lists there are do not go with the lines. */
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

const importBounds = { bytesMax: listFileBytesMax, pipeMsMax: Infinity } as const

function readListFile(path: string): string {
  try {
    const bytes =
      path === '-' ? readDescriptor(0, importBounds) : readBoundedFile(path, importBounds).bytes
    return bytes.toString('utf8')
  } catch (cause) {
    throw new IpriskError({
      code: 'lists_file',
      message: `The file of entries ${path} cannot be read: ${messageOf(cause)}.`,
      fault: 'input',
      cause,
    })
  }
}
