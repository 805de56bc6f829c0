// The commands `iprisk lists create|delete|add|remove|undo|import`: acts on own lists. What they
// may do and how it is recorded is account/list-acts.ts; listings are show-lists.ts. A command
// returns when the running servers answer by what it did.

import { type ListRequest, type ListResult, actOnLists } from '../../account/list-acts.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { readBoundedFile, readDescriptor } from '../../base/system/bounded-file.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { optionalMember } from '../../base/optional-member.ts'
import type { Settings } from '../../config/settings.ts'
import { listFileBytesMax } from '../../lists/list-limits.ts'
import { parseListText } from '../../lists/list-text.ts'
import { listNamed, parseCatalogue } from '../../lists/list-catalogue.ts'
import { removeOrphans } from '../../lists/change-lists.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { type CommandIo, usageError, withStores } from '../keys/key-session.ts'
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
  return `${list}: ${undone}${what}; it has ${formatCount(after.entries)} entries.`
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
  const { forMs, note, force } = settings.invocation
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

/** `lists import FILE [NAME]`: lines for the list NAME, or JSON lines that name their lists. */
export async function listsImport(
  settings: Settings,
  [path = '', name]: Args,
  io: CommandIo,
): Promise<void> {
  const { replace, force } = settings.invocation
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
  await withLists(withStores, settings, async (store) => {
    for (const [own, { effect, entries }] of lists) {
      const list = name ?? own
      const known = listNamed(parseCatalogue((await store.catalogue()).text), list)
      if (known === undefined && effect !== undefined) {
        report(settings, io, await actOn(settings, io, store, { act: 'create', list, effect }))
      }
      const request = { act: 'import', list, entries, replace, force } as const
      report(settings, io, await actOn(settings, io, store, request))
    }
    await removeOrphans({ store, now: io.now })
  })
  await tellServers(settings, io, 'lists')
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
