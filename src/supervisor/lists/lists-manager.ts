// Keeps the workers' own lists up to date: polls the store, has changes compiled, and sends them to
// all workers in order. Also recompiles if the compiled file is missing or changed, or a worker
// cannot use it.
//
// Invariants: while the lists cannot be read or compiled, the previous ones stay; without any, no
// worker answers. If the first ones are damaged, their readable parts are used. Failure and
// recovery are logged once each; a file is removed only once unused.

import { rm } from 'node:fs/promises'
import { type StoresSettings, openStores, silentHooks } from '../../account/stores/open-stores.ts'
import { backoffMs } from '../../base/backoff.ts'
import { createQueue } from '../../base/concurrency.ts'
import { IpriskError, messageOf, environmentError } from '../../base/coded-error.ts'
import { poolRequestMsMax } from '../../base/limits.ts'
import { createChildTask } from '../../base/system/child-task.ts'
import type { Log } from '../../base/log.ts'
import { openLazily } from '../../base/memoise.ts'
import type { ListFile } from '../../table/served-table.ts'
import type { ListStore } from '../../lists/list-store.ts'
import type { ControlReply } from '../sockets/control-socket.ts'
import { inodeIdentity } from '../../base/system/file-watch.ts'
import type { Supervisor } from '../supervisor.ts'

/** All workers have a change within one second, compiling included. */
const listsPollMs = 200

const retry = { msMin: 1000, msMax: 10_000 } as const

export type ListsStatus = Readonly<ReturnType<typeof firstState>['status']>

export type ListsManager = ReturnType<typeof createListsManager>

interface ListsParts {
  readonly settings: StoresSettings
  readonly prefix: string
  readonly supervisor: Pick<Supervisor, 'useLists'>
  readonly log: Log
}

const refusedText = 'A worker cannot use the compiled own lists; they are being recompiled.'

type LiveLists = ReturnType<typeof firstState>

function firstState() {
  return {
    retries: { failures: 0, atMs: 0 },
    version: 0,
    file: undefined as ListFile | undefined,
    /** `inodeIdentity` of the compiled file. */
    identity: '',
    isRefused: false,
    status: {
      /** Workers know the lists, or know that there are none. */
      known: false,
      lists: 0,
      entries: 0,
      tag: '',
      /** Why the lists in the store are not in use. */
      failure: '',
    },
  }
}

export function createListsManager(parts: ListsParts) {
  const { settings, log } = parts
  const compiler = createListsCompiler()
  const stores = openLazily(() => openStores(settings, silentHooks))
  const store = async (): Promise<ListStore> => (await stores.get()).openLists()
  const live = firstState()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const enqueue = createQueue()
  let waiting: Promise<boolean> | undefined

  const look = async (): Promise<boolean> => {
    waiting = undefined
    try {
      const isTaken = await takeLists({ ...parts, compiler }, live, await store())
      // A worker may have refused them meanwhile.
      if (!live.isRefused) noteSuccess(live, log)
      return isTaken
    } catch (error) {
      if (isClosed) return false
      const isDamaged = error instanceof IpriskError && error.code === 'lists_damaged'
      if (isDamaged && hasNone(live)) await takeWhatIsLeft({ ...parts, compiler }, live)
      noteFailure(live, messageOf(error), log)
      return false
    }
  }
  /** Whether every worker has the store's lists. A call during a look awaits the next one. */
  const refresh = (): Promise<boolean> => (waiting ??= enqueue(look))
  return {
    refresh,
    /** Recompiles the lists of a version that a worker cannot use. */
    refused: (version: number): void => {
      if (version !== live.file?.version || live.isRefused || isClosed) return
      live.isRefused = true
      const isFirst = live.retries.failures === 0
      noteFailure(live, refusedText, log)
      if (isFirst) void refresh()
    },
    refreshForCommand: async (): Promise<ControlReply> =>
      (await refresh())
        ? { ok: true, text: 'Every worker has loaded the lists.' }
        : { ok: false, text: live.status.failure || 'Not every worker has loaded the lists.' },
    store,
    stores: stores.get,
    status: () => live.status,
    areUsable: () => live.status.known && !live.isRefused,
    file: () => live.file,
    watch: (): void => {
      timer ??= setInterval(() => {
        if (waiting === undefined && performance.now() >= live.retries.atMs) void refresh()
      }, listsPollMs)
    },
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(timer)
      compiler.close()
      await enqueue(() => undefined)
      await (await stores.ifOpen())?.close()
    },
  }
}

function noteSuccess(live: LiveLists, log: Log): void {
  if (live.status.failure !== '') log.info({}, 'The own lists are in use again.')
  live.status = { ...live.status, failure: '' }
  if (performance.now() > live.retries.atMs + retry.msMax) live.retries.failures = 0
}

function noteFailure(live: LiveLists, failure: string, log: Log): void {
  const { retries, status } = live
  const { known, failure: before } = status
  const text = known
    ? 'The previous own lists stay in use'
    : 'The own lists are not loaded, so checks get 503'
  if (failure === refusedText) log.error({}, failure)
  else if (before === '' || before === refusedText) log.error({}, `${text}: ${failure}`)
  live.status = { ...status, failure }
  retries.failures += 1
  retries.atMs = performance.now() + backoffMs(retry, retries.failures)
}

type CompilerParts = ListsParts & { readonly compiler: ReturnType<typeof createListsCompiler> }

async function takeLists(
  parts: CompilerParts,
  live: LiveLists,
  store: ListStore,
): Promise<boolean> {
  const { log } = parts
  const tag = await store.tag()
  const { file: old, status } = live
  const isLost = hasLost(live)
  if (status.known && tag === status.tag && !isLost && !live.isRefused) return true
  if (isLost && old !== undefined && status.failure === '')
    log.error(
      { path: old.path },
      'The compiled own lists are missing or were changed; they are being recompiled.',
    )
  const { isTaken, ...compiled } = await compileForWorkers(parts, live, { tag })
  const { version } = live
  if (!isTaken) log.warn({ version }, 'Not every worker has confirmed the own lists.')
  if (old !== undefined) removeLater(old.path)
  const { lists, entries } = compiled
  live.status = { known: true, lists, entries, tag: compiled.tag, failure: live.status.failure }
  if (status.known || compiled.tag !== '') {
    log.info({ lists, entries }, 'Changed own lists are in use.')
  }
  return isTaken
}

const hasLost = ({ file, identity }: LiveLists): boolean =>
  file !== undefined && inodeIdentity(file.path) !== identity

/** A new worker would have no usable lists. */
const hasNone = (live: LiveLists): boolean => !live.status.known || live.isRefused || hasLost(live)

/** Uses the readable parts of damaged lists if there are no others. */
async function takeWhatIsLeft(parts: CompilerParts, live: LiveLists): Promise<void> {
  const old = live.file
  try {
    const damaged = { tag: 'damaged', partly: true }
    const { lists, entries } = await compileForWorkers(parts, live, damaged)
    // No tag: these are not the store's lists.
    live.status = { ...live.status, known: true, lists, entries, tag: '' }
    if (old !== undefined) removeLater(old.path)
    parts.log.warn({ lists, entries }, 'The readable parts of damaged own lists are in use.')
  } catch {
    // The previous failure says why.
  }
}

/** `written` only if the lists have entries. */
async function compileForWorkers(
  { settings, prefix, compiler, supervisor }: CompilerParts,
  live: LiveLists,
  { tag, partly = false }: { readonly tag: string; readonly partly?: boolean },
): Promise<CompiledLists & { readonly isTaken: boolean }> {
  live.version += 1
  const { version } = live
  const path = `${prefix}lists-${version}.iprisk`
  const unfinished = `${prefix}lists-${version}-unfinished.iprisk`
  // A store without lists starts no process.
  const compiled =
    tag === ''
      ? { tag, lists: 0, entries: 0, written: false }
      : await compiler.compile({ settings, path, unfinished, partly })
  live.file = compiled.written ? { version, path } : undefined
  live.identity = compiled.written ? inodeIdentity(path) : ''
  live.isRefused = false
  return { ...compiled, isTaken: await supervisor.useLists(live.file) }
}

/** Requests in the pool keep the lists that they started with. */
function removeLater(path: string): void {
  setTimeout(
    () => void rm(path, { force: true }).catch(() => undefined),
    poolRequestMsMax + 1000,
  ).unref()
}

// Compiles in a process (compile-lists-main.ts) that starts with the first request and ends when
// idle.

const idleMsMax = 300_000
/** A million entries take two seconds on an idle machine. */
const compileMsMax = 60_000

export interface CompileRequest {
  readonly settings: StoresSettings
  readonly path: string
  /** Its path until it is renamed. */
  readonly unfinished: string
  /** Leave out damaged parts instead of failing. */
  readonly partly?: boolean
}

export interface CompiledLists {
  readonly tag: string
  readonly lists: number
  readonly entries: number
  readonly written: boolean
}

/** `compile` throws `lists_damaged` and `lists_uncompiled`; after `close` always. */
export function createListsCompiler() {
  const task = createChildTask<CompileRequest, CompiledLists>({
    program: new URL('./compile-lists-main.js', import.meta.url),
    msMax: compileMsMax,
    idleMs: idleMsMax,
  })
  return {
    compile: async (request: CompileRequest): Promise<CompiledLists> => {
      const outcome = await task.ask(request)
      switch (outcome.kind) {
        case 'answered':
          return outcome.answer
        case 'failed':
          // Its cache may be incomplete.
          task.stop()
          throw uncompiled(outcome.error.message, outcome.error.code === 'lists_damaged')
        case 'ended':
          throw uncompiled(outcome.end.error?.message ?? 'the process for it has ended')
        case 'late':
          throw uncompiled(`it took longer than ${compileMsMax / 1000} seconds`)
        case 'stopped':
          throw uncompiled('this server is shutting down')
        default:
          return outcome satisfies never
      }
    },
    close: task.close,
  }
}

function uncompiled(why: string, damaged = false): IpriskError {
  return environmentError(
    damaged ? 'lists_damaged' : 'lists_uncompiled',
    `The own lists could not be compiled: ${why.replace(/\.$/, '')}.`,
    { retryable: true },
  )
}
