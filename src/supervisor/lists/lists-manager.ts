// Keeps the workers' own lists as the store has them: looks five times a second whether they have
// changed, lets them be compiled, and tells all workers. One change after the other; changes that
// come while one is being compiled are compiled together.
//
// Invariants: lists that cannot be read or compiled leave those before in use, and the log says so
// once, and once that it is over; a server that has none before takes what is left of damaged ones,
// for no lists at all would let through the most; a file is removed only when no request can have
// begun with it.

import { rm } from 'node:fs/promises'
import {
  type Stores,
  type StoresSettings,
  openStores,
  silentHooks,
} from '../../account/stores/open-stores.ts'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { listsPollMs, poolRequestMsMax } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { openLazily } from '../../base/open-lazily.ts'
import type { ListFile } from '../../http/exchange/served-table.ts'
import type { ListStore } from '../../lists/list-store.ts'
import type { ControlReply } from '../sockets/control-socket.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import { type CompiledLists, type ListsCompiler, createListsCompiler } from './lists-compiler.ts'

/** After a failure it is tried again this late. */
const retryMs = 1000

export interface ListsStatus {
  readonly lists: number
  readonly entries: number
  /** Of the catalogue in use; the same on machines that have the same lists. */
  readonly tag: string
  /** The lists in the store are not those in use, and why. */
  readonly failure: string
}

export interface ListsManager {
  /** Looks now; whether every worker answers with the lists that the store has. */
  readonly refresh: () => Promise<boolean>
  /** The same for a command that waits (control-socket.ts). */
  readonly refreshForCommand: () => Promise<ControlReply>
  readonly status: () => ListsStatus
  /** What the workers answer with. */
  readonly file: () => ListFile | undefined
  /** Looks by itself from now on. */
  readonly watch: () => void
  /** The store, for acts on lists. */
  readonly store: () => Promise<ListStore>
  /** Where keys and lists are; opened when first asked for. */
  readonly stores: () => Promise<Stores>
  readonly close: () => Promise<void>
}

export interface ListsParts {
  readonly settings: StoresSettings
  /** Begins the names of files. */
  readonly prefix: string
  readonly supervisor: Pick<Supervisor, 'useLists'>
  readonly log: Log
}

type CompilerParts = ListsParts & { readonly compiler: ListsCompiler }

/** What the workers have. */
interface LiveLists {
  version: number
  file: ListFile | undefined
  status: ListsStatus
  /** What is left of damaged lists was asked for. */
  isPartial: boolean
}

const noLists: ListsStatus = { lists: 0, entries: 0, tag: '', failure: '' }

export function createListsManager(parts: ListsParts): ListsManager {
  const { settings, log } = parts
  const compiler = createListsCompiler()
  const stores = openLazily(() => openStores(settings, silentHooks))
  const store = async (): Promise<ListStore> => (await stores.get()).openLists()
  const live: LiveLists = {
    version: 0,
    file: undefined,
    status: noLists,
    isPartial: false,
  }
  let retryAtMs = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let queue: Promise<unknown> = Promise.resolve()
  let waiting: Promise<boolean> | undefined

  const look = async (): Promise<boolean> => {
    waiting = undefined
    try {
      const isTaken = await takeLists({ ...parts, compiler }, live, await store())
      if (live.status.failure !== '') log.info({}, 'The own lists can be read again.')
      live.status = { ...live.status, failure: '' }
      return isTaken
    } catch (error) {
      if (isClosed) return false
      const failure = messageOf(error)
      const isNew = live.status.failure === ''
      live.status = { ...live.status, failure }
      const isDamaged = error instanceof IpriskError && error.code === 'lists_damaged'
      if (isDamaged) await takeWhatIsLeft({ ...parts, compiler }, live)
      const what = live.file === undefined ? 'No own list is in use' : 'The own lists in use stay'
      if (isNew) log.error({}, `${what}: ${failure}`)
      retryAtMs = performance.now() + retryMs
      return false
    }
  }
  /** Whoever asks while one look is under way gets the next one. */
  const refresh = (): Promise<boolean> => {
    if (waiting !== undefined) return waiting
    const next = queue.then(look)
    waiting = next
    queue = next
    return next
  }
  return {
    refresh,
    refreshForCommand: async () =>
      (await refresh())
        ? { ok: true, text: 'Every worker knows the lists.' }
        : { ok: false, text: live.status.failure || 'Not every worker knows the lists.' },
    store,
    stores: stores.get,
    status: () => live.status,
    file: () => live.file,
    watch: () => {
      timer ??= setInterval(() => {
        if (waiting === undefined && performance.now() >= retryAtMs) void refresh()
      }, listsPollMs)
    },
    close: async () => {
      isClosed = true
      clearInterval(timer)
      compiler.close()
      await queue
      await (await stores.ifOpen())?.close()
    },
  }
}

/** Gives the workers what the store has, where that is not what they have. */
async function takeLists(
  parts: CompilerParts,
  live: LiveLists,
  store: ListStore,
): Promise<boolean> {
  const { log } = parts
  if ((await store.tag()) === live.status.tag) return true
  const old = live.file
  const { isTaken, ...compiled } = await compileLists(parts, live, false)
  const { version } = live
  if (!isTaken) log.warn({ version }, 'Not every worker has said that it knows the own lists.')
  if (old !== undefined) removeLater(old.path)
  const { lists, entries, tag } = compiled
  live.status = { lists, entries, tag, failure: live.status.failure }
  log.info({ lists, entries }, 'Changed own lists are in use.')
  return isTaken
}

/** Compiles the lists of the store into another file, and gives it to the workers. */
async function compileLists(
  { settings, prefix, supervisor, compiler }: CompilerParts,
  live: LiveLists,
  partly: boolean,
): Promise<Omit<CompiledLists, 'written'> & { readonly isTaken: boolean }> {
  live.version += 1
  const { version } = live
  const path = `${prefix}lists-${version}.iprisk`
  const unfinished = `${prefix}lists-${version}-unfinished.iprisk`
  const request = { settings, path, unfinished, partly }
  const { written, ...compiled } = await compiler.compile(request)
  live.file = written ? { version, path } : undefined
  return { ...compiled, isTaken: await supervisor.useLists(live.file) }
}

/** Of lists that could not be taken whole, where none are in use. */
async function takeWhatIsLeft(parts: CompilerParts, live: LiveLists): Promise<void> {
  if (live.status.tag !== '' || live.isPartial) return
  live.isPartial = true
  try {
    const { lists, entries } = await compileLists(parts, live, true)
    // Not the tag: the store's lists are others.
    live.status = { ...live.status, lists, entries }
    parts.log.warn({ lists, entries }, 'What is left of damaged own lists is in use.')
  } catch {
    // The failure before this one says why.
  }
}

/** Requests in the pool go on with the lists that they began with. */
function removeLater(path: string): void {
  setTimeout(
    () => void rm(path, { force: true }).catch(() => undefined),
    poolRequestMsMax + 1000,
  ).unref()
}
