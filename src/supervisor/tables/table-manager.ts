// The tables of a running server: the one in use, the previous one, and the outcome of all others.
// A new table is
//
//   made       built (refresh.ts), pulled (table-pull.ts), or put in place by the operator (watched
//              by serve/primary.ts)
//   copied     table-copies.ts; a process verifies and tries the copy (prepare-table.ts)
//   swapped    swap-in-workers.ts: every worker opens it (worker/worker-table.ts), then all swap
//   kept       rollback-files.ts: this one and the previous one, for the next server
//
// Invariants: one operation at a time, in order; a refused table changes nothing; every refusal's
// reason is logged, kept and counted by code.

import { messageOf } from '../../base/coded-error.ts'
import { createQueue } from '../../base/concurrency.ts'
import type { Log } from '../../base/log.ts'
import type { Supervisor } from '../supervisor.ts'
import type { TableRefusal, TableRefusalCode } from './table-refusal.ts'
import { tableRefusalCodes, tableRefusalOf } from './table-refusal.ts'
import { type FirstTable, loadTable, type TableCopies, type TableCopy } from './table-copies.ts'
import type { LoopPause } from '../../observe/loop-lag.ts'
import { identityOrEmpty, inodeIdentity } from '../../base/system/file-watch.ts'
import { type KeptTables, openKeptTables } from './rollback-files.ts'
import { type TrafficTrial, type TrialResult, trialFault } from '../../compare/traffic-trial.ts'
import { builtMsOf } from '../../table/file/header.ts'
import type { VerifiedTableFile } from '../../table/served-table.ts'

export type SwapOutcome =
  | { readonly kind: 'swapped'; readonly table: string }
  | { readonly kind: 'unchanged'; readonly table: string }
  | { readonly kind: 'held'; readonly table: string }
  | ({ readonly kind: 'refused' } & TableRefusal)
  | { readonly kind: 'ending' }

export type TableManagerStatus = ReturnType<TableManager['status']>

export type TableManager = ReturnType<typeof createTableManager>

interface TableManagerParts {
  readonly path: string
  readonly source?: string | undefined
  readonly stateFolder: string
  readonly supervisor: Pick<Supervisor, 'swapTable'>
  readonly copies: Pick<TableCopies, 'add' | 'remove'>
  readonly traffic?: () => Promise<TrafficTrial | undefined>
  readonly log: Log
  /** Once aborted, the operation in progress is cancelled. */
  readonly signal: AbortSignal
}

type Parts = TableManagerParts & { readonly kept: KeptTables }

type State = ReturnType<typeof firstState>

function firstState() {
  return {
    current: undefined as TableCopy | undefined,
    /** The current copy's identity when verified. */
    identity: '',
    /** Number of a table whose copy a worker could not open. */
    distrusted: 0,
    /** Number of a table whose loss was logged. */
    lost: 0,
    previous: undefined as TableCopy | undefined,
    /** A table that was rolled back. */
    held: undefined as string | undefined,
    /** For a good or bad file. */
    lastTriedIdentity: '',
    /** That file was refused, or a later operation failed. */
    refused: false,
    status: firstStatus(),
  }
}

function firstStatus() {
  const counts = Object.fromEntries(tableRefusalCodes.map((code) => [code, 0]))
  return {
    swaps: 0,
    refusals: 0,
    refusals_by: counts as Readonly<Record<TableRefusalCode, number>>,
    last_swap: null as {
      readonly at: string
      readonly table: string
      readonly from: string | null
      /** From the request to all workers answering from it. */
      readonly took_ms: number
      readonly stall_ms: number
      /** The most processor time of a worker's process in such a step. */
      readonly stall_cpu_ms: number
    } | null,
    last_trial: null as
      | (TrialResult & { readonly at: string; readonly table: string; readonly refused: boolean })
      | null,
    last_refusal: null as (TableRefusal & { readonly at: string; readonly path: string }) | null,
  }
}

export function createTableManager(options: TableManagerParts) {
  const parts = { ...options, kept: openKeptTables(options.stateFolder, options.path) }
  const state = firstState()
  const queue = createQueue()
  const enqueue = (act: () => Promise<SwapOutcome>): Promise<SwapOutcome> =>
    queue(() => act().catch((error: unknown) => refuse(parts, state, tableRefusalOf(error))))
  const repairNow = (): Promise<SwapOutcome> =>
    enqueue(async () => (hasIntactCopy(state) ? unchanged(state) : repair(parts, state)))
  return {
    /** `undefined` if none can be loaded. */
    loadFirst: (begun: FirstTable) => loadFirst(parts, state, begun),
    /**
     * Loads the file at the path unless already tried; with `again` even a refused one, because a
     * refusal may be temporary: a full disk, a killed child.
     */
    loadIfChanged: ({ again } = { again: false }) =>
      enqueue(() => loadIfChanged(parts, state, again)),
    /**
     * For another file than at the path, which the caller then puts there; `force` skips trials.
     */
    take: (from: string, { force }: { readonly force: boolean }) =>
      enqueue(async () => {
        const { lastTriedIdentity } = state
        const outcome = await loadAndSwap(parts, state, { asked: false, force, from })
        // The path still has the previous one.
        if (outcome.kind === 'refused') state.lastTriedIdentity = lastTriedIdentity
        return outcome
      }),
    /**
     * Loads again if no table answers, or its copy is missing or damaged: from its link in the
     * state folder, from the path, or the previous table.
     */
    repair: repairNow,
    /** A worker cannot open that table's copy: repairs now and later. */
    distrust: (table: number): void => {
      if (table !== state.current?.file.table || table === state.distrusted) return
      state.distrusted = table
      void repairNow()
    },
    /** Even if already tried or rolled back; `force` overrules the acceptance check. */
    reload: ({ force }: { readonly force: boolean }) =>
      enqueue(() => loadAndSwap(parts, state, { asked: true, force })),
    /**
     * Returns to the previous table and holds the current one back, also in later servers, until
     * another table or a reload.
     */
    rollback: () => enqueue(() => rollback(parts, state)),
    current: () => state.current,
    file: () => state.current?.file,
    previousFile: () => state.previous?.file,
    status: () => ({
      ...state.status,
      previous: state.previous?.id ?? null,
      held: heldTable(state) ?? null,
    }),
  }
}

async function loadFirst(
  parts: Parts,
  state: State,
  begun: FirstTable,
): Promise<VerifiedTableFile | undefined> {
  const { path, log, signal } = parts
  const { identity, urgent, loaded } = begun
  state.held = parts.kept.readRollbackNote()
  state.lastTriedIdentity = identity
  const first = await loaded
  if (signal.aborted) return undefined
  if (state.held === undefined || ('id' in first && first.id !== state.held)) {
    clearRollback(parts, state)
    if ('id' in first) useFirst(parts, state, first)
    else if (first.code === 'missing' && parts.source !== undefined) {
      const { source } = parts
      log.info({ path, source }, 'There is no table yet; the first one comes from its publisher.')
    } else refuse(parts, state, first)
  } else {
    // A rolled-back table stays out of later servers.
    const instead = await loadTable(parts, { path: parts.kept.rollbackTable, force: true, urgent })
    // Unknown; the next start decides.
    if (signal.aborted) return undefined
    const { held } = state
    if ('id' in instead) {
      log.warn(
        { held, table: instead.id },
        'The table was rolled back; the previous one is in use.',
      )
      if ('id' in first) await parts.copies.remove(first.file)
      useFirst(parts, state, instead)
    } else if ('id' in first) {
      log.error({ held }, `The table that was rolled back is used: ${instead.reason}`)
      // Otherwise the next start tries again.
      if (isLost(instead)) clearRollback(parts, state)
      useFirst(parts, state, first)
    } else refuse(parts, state, first)
  }
  // There is no better table, and the build accepted or forced it.
  for (const caution of state.current?.cautions ?? []) log.warn({ path }, caution)
  return state.current?.file
}

const heldTable = ({ held, current }: State): string | undefined =>
  held === current?.id ? undefined : held

/** A cheap check. */
function hasIntactCopy({ current, identity, distrusted }: State): boolean {
  if (current === undefined || current.file.table === distrusted) return false
  return inodeIdentity(current.file.path) === identity
}

function logLost({ log }: Parts, state: State): void {
  const { current, lost } = state
  if (current === undefined || lost === current.file.table) return
  state.lost = current.file.table
  log.error({ table: current.id }, 'The copy of the table in use is damaged or missing.')
}

function useFirst(parts: Parts, state: State, copy: TableCopy): void {
  const { kept } = parts
  use(state, copy)
  keepNames(parts, state, () => {
    const last = kept.find('current')
    const found = last !== undefined && last.id !== copy.id ? last : kept.find('previous')
    if (found === undefined || found.id === copy.id) return
    const { id, path } = kept.keep('previous', found)
    state.previous = { id, file: { table: 0, path, builtMs: builtMsOf(path) }, cautions: [] }
  })
}

function use(state: State, copy: TableCopy): void {
  state.current = copy
  state.identity = inodeIdentity(copy.file.path)
}

function keepNames(
  { kept, log }: Parts,
  state: State,
  choosePrevious: () => void = () => undefined,
): void {
  try {
    choosePrevious()
    const { current, previous } = state
    if (previous === undefined) kept.drop('previous')
    else kept.keep('previous', { id: previous.id, path: previous.file.path })
    if (current !== undefined) kept.keep('current', { id: current.id, path: current.file.path })
  } catch (error) {
    log.warn({}, `Rolling back will not work after a restart: ${messageOf(error)}`)
  }
}

function unchanged({ current }: State): SwapOutcome {
  return { kind: 'unchanged', table: current?.id ?? '' }
}

/** A rollback's copy precedes the table at the path, as at the start. */
async function repair(parts: Parts, state: State): Promise<SwapOutcome> {
  const { log, kept } = parts
  const { current, previous } = state
  const fromMs = performance.now()
  const named = current === undefined ? undefined : kept.find('current')
  logLost(parts, state)
  if (named !== undefined && named.id === current?.id) {
    const copy = await loadTable(parts, { path: named.path, force: true })
    if ('id' in copy) return swap(parts, state, { copy, fromMs, previous })
  }
  if (state.held !== undefined) {
    const copy = await loadTable(parts, { path: parts.kept.rollbackTable, force: true })
    if ('id' in copy) return swap(parts, state, { copy, fromMs, previous })
    if (isLost(copy)) clearRollback(parts, state)
  }
  const outcome = await loadIfChanged(parts, state, true)
  if (outcome.kind === 'swapped' || current === undefined || previous === undefined) return outcome
  const copy = await loadTable(parts, { path: nameOf(parts, previous), force: true })
  if (!('id' in copy)) return outcome
  log.warn({ table: copy.id }, 'No copy of the table in use is left; the previous one is in use.')
  return swap(parts, state, { copy, fromMs, previous: undefined })
}

const isLost = ({ code }: TableRefusal): boolean => code === 'missing' || code === 'damaged'

async function loadIfChanged(parts: Parts, state: State, again: boolean): Promise<SwapOutcome> {
  const identity = identityOrEmpty(parts.path)
  const mayHelp = again && (state.refused || !hasIntactCopy(state))
  if ((identity === state.lastTriedIdentity && !mayHelp) || identity === '') {
    return unchanged(state)
  }
  return loadAndSwap(parts, state, { asked: false, force: false })
}

async function loadAndSwap(
  parts: Parts,
  state: State,
  how: { readonly asked: boolean; readonly force: boolean; readonly from?: string },
): Promise<SwapOutcome> {
  const { copies, log } = parts
  const { from: path = parts.path } = how
  const fromMs = performance.now()
  state.lastTriedIdentity = identityOrEmpty(path)
  state.refused = false
  const before = state.current
  // As at the start: any table is better than none.
  const force = how.force || before === undefined
  const traffic = before === undefined ? undefined : await parts.traffic?.()
  const isIntact = hasIntactCopy(state)
  if (!isIntact) logLost(parts, state)
  const onTrial = (result: TrialResult, table: string): void => {
    const refused = trialFault(result) !== undefined && !force
    state.status.last_trial = { at: new Date().toISOString(), table, ...result, refused }
  }
  const copy = await loadTable(parts, {
    path,
    force,
    before: (isIntact ? before : state.previous)?.file,
    accepted: before?.id,
    traffic,
    onTrial,
  })
  if (!('id' in copy)) return refuse({ ...parts, path }, state, copy)
  const isSame = copy.id === before?.id
  if (isSame && isIntact && copy.isBeforeLost !== true) {
    await copies.remove(copy.file)
    if (how.asked && copy.id === state.held) clearRollback(parts, state)
    // The file at the path is good again.
    state.status.last_refusal = null
    log.info({ path, table: copy.id }, 'The table is already in use.')
    return { kind: 'unchanged', table: copy.id }
  }
  if (copy.id === state.held && !how.asked && !isSame) {
    await copies.remove(copy.file)
    log.warn(
      { path, table: copy.id },
      'The table was rolled back and will not be loaded until a reload.',
    )
    return { kind: 'held', table: copy.id }
  }
  for (const caution of copy.cautions) log.warn({ path }, caution)
  // A replaced or lost copy does not become the previous table.
  const previous = isSame || !isIntact ? state.previous : before
  const outcome = await swap({ ...parts, path }, state, { copy, fromMs, previous })
  if (outcome.kind === 'swapped' && !isSame) clearRollback(parts, state)
  return outcome
}

async function rollback(parts: Parts, state: State): Promise<SwapOutcome> {
  const { log } = parts
  const { previous, current } = state
  if (previous === undefined || current === undefined) {
    const held = heldTable(state)
    const why =
      held === undefined
        ? 'this server has had only one'
        : `${held} was already rolled back, and the previous one is in use`
    const reason = `There is no table to roll back to: ${why}.`
    return { kind: 'refused', code: 'missing', reason }
  }
  const fromMs = performance.now()
  // Verified like any table: its copy may be damaged.
  const copy = await loadTable(parts, { path: nameOf(parts, previous), force: true })
  if (!('id' in copy)) return refuse(parts, state, copy)
  const outcome = await swap(parts, state, { copy, fromMs, previous: undefined })
  if (outcome.kind !== 'swapped') return outcome
  state.held = current.id
  try {
    parts.kept.writeRollbackNote(current.id, copy.file.path)
  } catch (error) {
    log.warn({}, `Later servers will not know of the rollback: ${messageOf(error)}`)
  }
  return outcome
}

/** `previous` is the new rollback target; unused copies are removed. */
async function swap(
  parts: Parts,
  state: State,
  of: {
    readonly copy: TableCopy
    readonly fromMs: number
    readonly previous: TableCopy | undefined
  },
): Promise<SwapOutcome> {
  const { path, supervisor, copies, log } = parts
  const { copy, fromMs, previous } = of
  const { current: before, previous: old } = state
  let pause: LoopPause
  try {
    pause = await supervisor.swapTable(copy.file)
  } catch (error) {
    await copies.remove(copy.file)
    return refuse(parts, state, tableRefusalOf(error))
  }
  state.status.swaps += 1
  state.status.last_swap = {
    at: new Date().toISOString(),
    table: copy.id,
    from: before?.id ?? null,
    took_ms: Math.round(performance.now() - fromMs),
    stall_ms: Math.round(pause.ms * 1000) / 1000,
    stall_cpu_ms: Math.round(pause.cpuMs * 1000) / 1000,
  }
  if (before === undefined) useFirst(parts, state, copy)
  else {
    use(state, copy)
    state.previous = previous
    keepNames(parts, state)
  }
  for (const one of [before, old]) {
    if (one !== undefined && one !== state.previous) await copies.remove(one.file)
  }
  log.info({ table: copy.id, path }, 'A new table is in use.')
  return { kind: 'swapped', table: copy.id }
}

function refuse(parts: Parts, state: State, { code, reason }: TableRefusal): SwapOutcome {
  const { path, log, signal } = parts
  const { status } = state
  if (signal.aborted) return { kind: 'ending' }
  state.refused = true
  status.refusals += 1
  status.refusals_by = { ...status.refusals_by, [code]: status.refusals_by[code] + 1 }
  status.last_refusal = { at: new Date().toISOString(), path, code, reason }
  const stays =
    state.current === undefined ? 'No table is in use.' : 'The previous one stays in use.'
  // Our reasons are sentences; the system's are not.
  const sentence = reason.endsWith('.') ? reason : `${reason}.`
  log.error({ path, code }, `The new table is not used: ${sentence} ${stays}`)
  return { kind: 'refused', code, reason }
}

function nameOf({ kept }: Parts, { id, file }: TableCopy): string {
  const named = kept.find('previous')
  return named?.id === id ? named.path : file.path
}

function clearRollback({ kept }: Parts, state: State): void {
  state.held = undefined
  kept.removeRollbackNote()
}
