// Keeps the workers' own lists as the store has them: looks five times a second whether they have
// changed, lets them be compiled, and tells all workers. One change after the other; changes that
// come while one is being compiled are compiled together.
//
// Invariants: lists that cannot be read or compiled leave those before in use, and the log says so
// once, and once that it is over; a file is removed only when no request can have begun with it.

import { rm } from 'node:fs/promises'
import {
  type Stores,
  type StoresSettings,
  openStores,
  silentHooks,
} from '../../account/stores/open-stores.ts'
import { messageOf } from '../../base/coded-error.ts'
import { listsPollMs, poolRequestMsMax } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { openLazily } from '../../base/open-lazily.ts'
import type { ListFile } from '../../http/exchange/served-table.ts'
import type { ListStore } from '../../lists/list-store.ts'
import type { ControlReply } from '../sockets/control-socket.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import { type ListsCompiler, createListsCompiler } from './lists-compiler.ts'

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

/** What the workers have. */
interface LiveLists {
  version: number
  file: ListFile | undefined
  status: ListsStatus
}

const noLists: ListsStatus = { lists: 0, entries: 0, tag: '', failure: '' }

export function createListsManager(parts: ListsParts): ListsManager {
  const { settings, log } = parts
  const compiler = createListsCompiler()
  const stores = openLazily(() => openStores(settings, silentHooks))
  const store = async (): Promise<ListStore> => (await stores.get()).openLists()
  const live: LiveLists = { version: 0, file: undefined, status: noLists }
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
      if (live.status.failure === '') log.error({}, `The own lists in use stay: ${failure}`)
      live.status = { ...live.status, failure }
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
  parts: ListsParts & { readonly compiler: ListsCompiler },
  live: LiveLists,
  store: ListStore,
): Promise<boolean> {
  const { settings, prefix, supervisor, log, compiler } = parts
  if ((await store.tag()) === live.status.tag) return true
  live.version += 1
  const { version, file: old } = live
  const path = `${prefix}lists-${version}.iprisk`
  const unfinished = `${prefix}lists-${version}-unfinished.iprisk`
  const { written, ...compiled } = await compiler.compile({ settings, path, unfinished })
  live.file = written ? { version, path } : undefined
  const isTaken = await supervisor.useLists(live.file)
  if (!isTaken) log.warn({ version }, 'Not every worker has said that it knows the own lists.')
  if (old !== undefined) removeLater(old.path)
  live.status = { ...compiled, failure: live.status.failure }
  const { lists, entries } = compiled
  log.info({ lists, entries }, 'Changed own lists are in use.')
  return isTaken
}

/** Requests in the pool go on with the lists that they began with. */
function removeLater(path: string): void {
  setTimeout(
    () => void rm(path, { force: true }).catch(() => undefined),
    poolRequestMsMax + 1000,
  ).unref()
}
