// Sources of a server's new tables: its own builds at intervals (refresh.ts), a publisher
// (table-pull.ts), both, or neither. Builds write to the watched place; published tables are tried
// first.

import { hostname } from 'node:os'
import { parseDurationMs } from '../base/time-text.ts'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import { parseTrustedKey } from '../publish/form/signing-key.ts'
import { type CatchUp, startRefresh } from '../supervisor/tables/refresh.ts'
import type { TableManager } from '../supervisor/tables/table-manager.ts'
import { type TablePull, startTablePull } from '../supervisor/tables/table-pull.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

export interface SourceParts {
  readonly settings: Settings
  /** Builds a new table at its place: a Node program and its arguments. */
  readonly buildCommand: readonly string[]
  readonly catchUp?: CatchUp | undefined
  readonly buildEnvironment?: NodeJS.ProcessEnv | undefined
  readonly supervisor: Pick<Supervisor, 'status'>
  readonly tables: Pick<TableManager, 'take'>
  readonly log: Log
}

export type TableSources = ReturnType<typeof startTableSources>

export function startTableSources(
  parts: SourceParts,
  of: { readonly builtMs: number | undefined; readonly look: () => void },
) {
  const { settings, buildCommand: command, catchUp, buildEnvironment, log } = parts
  const everyMs = parseDurationMs(settings.serve.refreshEvery)
  const pull = pullTables(parts)
  const refresh =
    // A server that pulls tables does not build on demand.
    pull === undefined || everyMs > 0 || catchUp !== undefined
      ? startRefresh({
          everyMs,
          builtMs: of.builtMs,
          command,
          catchUp,
          environment: buildEnvironment,
          log,
          done: of.look,
        })
      : undefined
  return {
    refresh,
    pull,
    stop: (): void => {
      pull?.stop()
      refresh?.stop()
    },
  }
}

function pullTables({ settings, supervisor, tables, log }: SourceParts): TablePull | undefined {
  const { serve, table: tablePath, state: stateFolder } = settings
  if (serve.tableUrl === undefined) return undefined
  return startTablePull({
    url: serve.tableUrl,
    trusted: serve.tableTrust.map(parseTrustedKey).filter((key) => key !== undefined),
    place: serve.tablePlace,
    tablePath,
    stateFolder,
    machine: serve.machineName ?? hostname(),
    everyMs: serve.tablePollSeconds * 1000,
    current: () => supervisor.status().table,
    tables,
    log,
  })
}
