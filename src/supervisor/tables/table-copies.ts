// The primary's private copies of table files, `<state>/serving/<machine>-<pid>-<number>.iprisk`.
// Workers map those, never the operator's file: a `cp` over a mapped file is a SIGBUS in every
// worker. A child process copies, verifies and tests the file (prepare-table-main.ts).
//
// Invariants: a named copy is never written to. Servers do not remove copies of living servers. A
// server of this machine lives while its process does; one of another machine (another container)
// while it touches its copies.

import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from '../../base/system/atomic-file.ts'
import { bootId } from '../../base/system/clock.ts'
import { makeOwnFolder } from '../../base/system/own-files.ts'
import { messageOf, inputError } from '../../base/coded-error.ts'
import { isProcessAlive, pidNamespaceName } from '../../base/system/process.ts'
import type { TrafficTrial, TrialResult } from '../../compare/traffic-trial.ts'
import { builtMsOf } from '../../table/file/header.ts'
import type { VerifiedTableFile } from '../../table/served-table.ts'
import { fileIdentity, identityOrEmpty } from '../../base/system/file-watch.ts'
import { type TableRefusal, tableRefusalOf } from './table-refusal.ts'
import { prepareTable } from './prepare-table.ts'

const touchMs = 10_000

const staleMs = 12 * touchMs

export interface TableCopy {
  readonly file: VerifiedTableFile
  readonly id: string
  readonly cautions: readonly string[]
  readonly isBeforeLost?: boolean | undefined
}

interface HowToCopy {
  readonly before?: VerifiedTableFile | undefined
  readonly force?: boolean
  readonly accepted?: string | undefined
  /** Clients are waiting for the table, not for a core. */
  readonly urgent?: boolean
  /** `onTrial` gets every trial's result. */
  readonly traffic?: TrafficTrial | undefined
  readonly onTrial?: (result: TrialResult, table: string) => void
}

export type TableCopies = ReturnType<typeof createTableCopies>

export function createTableCopies(
  stateFolder: string,
  parts: { readonly prepare?: typeof prepareTable; readonly machine?: string } = {},
) {
  const { prepare = prepareTable, machine = machineRunId() } = parts
  const folder = join(stateFolder, 'serving')
  const own = `${machine}-${process.pid}-`
  const isForeignOrphan = (name: string): boolean => !name.startsWith(own) && isOrphaned(name)
  const isUnfinished = (name: string): boolean => name.startsWith(own) && name.endsWith('.part')
  const isOrphaned = (name: string): boolean => {
    const [, where, pid] = /^([^-]+)-(\d+)-/.exec(name) ?? []
    return where === machine ? !isProcessAlive(Number(pid)) : isStale(join(folder, name))
  }
  try {
    makeOwnFolder(folder)
  } catch {
    // The stores report what is wrong with the state folder.
  }
  // Process ids repeat: copies with this one are of a killed server.
  removeCopies(folder, (name) => name.startsWith(own) || isForeignOrphan(name))
  const touch = setInterval(() => void touchCopies(folder, own), touchMs)
  touch.unref()
  let count = 0
  return {
    /** Prefix of this server's files; `.iprisk` ones are removed with it. */
    prefix: join(folder, own),
    /**
     * Copies and verifies the file at `source` and checks its answers, also against `before`.
     * Throws `table_refused`, also on abort, and then keeps nothing; causes' codes say why
     * (table-refusal.ts). `force`, or a table's id as `accepted`, overrules the acceptance check
     * and the sampled traffic.
     */
    add: async (
      source: string,
      how: HowToCopy & { readonly signal: AbortSignal },
    ): Promise<TableCopy> => {
      const { signal, before, force = false, accepted, urgent = false, traffic, onTrial } = how
      count += 1
      const table = count
      const path = join(folder, `${own}${table}.iprisk`)
      const unfinished = `${path}.part`
      // The state folder may have been cleaned.
      makeOwnFolder(folder)
      // Includes our own that the disk failed to remove.
      removeCopies(folder, (name) => isUnfinished(name) || isForeignOrphan(name))
      try {
        const order = { source, copy: unfinished, force, before: before?.path, traffic }
        const found = await prepare(order, { signal, urgent })
        const { id, reasons, known, trial, isBeforeLost } = found
        if (trial !== undefined) onTrial?.(trial, id)
        if (reasons.length > 0 && !force && id !== accepted) {
          const code = found.against === null ? 'table_canary' : (`table_${found.against}` as const)
          throw inputError(code, reasons.join('; '))
        }
        renameSync(unfinished, path)
        const cautions = [...reasons, ...found.cautions]
        return {
          file: { table, path, builtMs: builtMsOf(existsSync(source) ? source : path), known },
          id,
          cautions,
          isBeforeLost,
        }
      } catch (cause) {
        discard(unfinished)
        // Name the operator's file instead of the removed copy.
        const message = messageOf(cause).replaceAll(unfinished, source)
        throw inputError('table_refused', message, { cause })
      }
    },
    /** Off the loop, because it may take long. Never rejects. */
    remove: ({ path }: VerifiedTableFile): Promise<void> =>
      rm(path, { force: true }).catch(() => undefined),
    close: (): void => {
      clearInterval(touch)
      removeCopies(folder, (name) => name.startsWith(own))
    },
  }
}

/** Finished or not. */
const copiesIn = (folder: string): readonly string[] =>
  namesIn(folder).filter((name) => /\.iprisk(\.part)?$/.test(name))

function removeCopies(folder: string, mayGo: (name: string) => boolean): void {
  for (const name of copiesIn(folder)) {
    if (mayGo(name)) discard(join(folder, name))
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next start tries again.
  }
}

async function touchCopies(folder: string, own: string): Promise<void> {
  const now = new Date()
  const names = copiesIn(folder).filter((name) => name.startsWith(own))
  await Promise.allSettled(names.map((name) => utimes(join(folder, name), now, now)))
}

function isStale(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > staleMs
  } catch {
    return false
  }
}

/** The scope of process ids. */
function machineRunId(): string {
  const name = `${pidNamespaceName()} ${bootId()}`
  return createHash('sha256').update(name).digest('hex').slice(0, 12)
}

interface Loader {
  readonly copies: Pick<TableCopies, 'add'>
  /** Once aborted, work in progress is cancelled. */
  readonly signal: AbortSignal
}

export async function loadTable(
  { copies, signal }: Loader,
  { path, ...how }: HowToCopy & { readonly path: string; readonly force: boolean },
): Promise<TableCopy | TableRefusal> {
  if (signal.aborted) return { code: 'other', reason: 'The server is shutting down.' }
  if (isAbsent(path)) {
    const reason = `There is no table at ${path}. Build one with "iprisk build", or set --table.`
    return { code: 'missing', reason }
  }
  try {
    return await copies.add(path, { signal, ...how })
  } catch (error) {
    return tableRefusalOf(error)
  }
}

export type FirstTable = ReturnType<typeof beginFirstTable>

/**
 * A server's first table, which takes longest of a start and begins before the rest is loaded
 * (src/serve/early-start.ts). `urgent`: no other server answers meanwhile.
 */
export function beginFirstTable(
  loader: Loader,
  { path, urgent }: { readonly path: string; readonly urgent: boolean },
) {
  const identity = identityOrEmpty(path)
  // Without a better table, any answers are accepted.
  return { identity, urgent, loaded: loadTable(loader, { path, urgent, force: true }) }
}

function isAbsent(path: string): boolean {
  try {
    return fileIdentity(path) === ''
  } catch {
    // A file exists; the verifying process will report its problem.
    return false
  }
}
