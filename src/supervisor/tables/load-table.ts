// Takes one table file in: a verified copy of it, or why there is none. That of a server that starts
// takes longest of all that it does, and begins before the rest of it is loaded
// (src/serve/early-start.ts).

import { optionalMember } from '../../base/optional-member.ts'
import type { VerifiedTableFile } from '../../table/served-table.ts'
import type { TrafficTrial, TrialResult } from '../../compare/traffic-trial.ts'
import { fileIdentity, identityOrEmpty } from './file-watch.ts'
import type { TableCopies, TableCopy } from './table-copies.ts'
import { type TableRefusal, tableRefusalOf } from './table-refusal.ts'
import { endVerifyingAhead } from './verify-process.ts'

interface Loader {
  readonly copies: Pick<TableCopies, 'add'>
  /** Once aborted, nothing begins, and what is under way is given up. */
  readonly signal: AbortSignal
}

/** Never rejects. What `how` means is `TableCopies.add`'s. */
export async function loadTable(
  { copies, signal }: Loader,
  of: {
    readonly path: string
    readonly force: boolean
    readonly urgent?: boolean
    readonly before?: VerifiedTableFile | undefined
    readonly accepted?: string | undefined
    readonly traffic?: TrafficTrial | undefined
    readonly onTrial?: (result: TrialResult, table: string) => void
  },
): Promise<TableCopy | TableRefusal> {
  const { path, before, accepted, traffic, ...how } = of
  if (signal.aborted) return { code: 'other', reason: 'The server is ending.' }
  if (isAbsent(path)) {
    return {
      code: 'missing',
      reason: `There is no table at ${path}: "iprisk build" makes one, --table names another.`,
    }
  }
  try {
    return await copies.add(path, {
      signal,
      ...how,
      ...optionalMember('before', before),
      ...optionalMember('accepted', accepted),
      ...optionalMember('traffic', traffic),
    })
  } catch (error) {
    return tableRefusalOf(error)
  }
}

/** The first table of a server, on its way. */
export interface FirstTable {
  /** The identity of its file before that was read. */
  readonly identity: string
  /** No other server answers meanwhile: nothing is more urgent than this table. */
  readonly urgent: boolean
  /** Never rejects. */
  readonly loaded: Promise<TableCopy | TableRefusal>
}

export function beginFirstTable(
  loader: Loader,
  of: { readonly path: string; readonly urgent: boolean },
): FirstTable {
  const identity = identityOrEmpty(of.path)
  // There is nothing better to serve, whatever its answers are.
  const loaded = loadTable(loader, { ...of, force: true }).finally(endVerifyingAhead)
  return { identity, urgent: of.urgent, loaded }
}

function isAbsent(path: string): boolean {
  try {
    return fileIdentity(path) === ''
  } catch {
    // There is a file, and the verifying process says what is wrong with it.
    return false
  }
}
