// The server's run behind `iprisk serve`, until a signal ends it; says in one line what it serves.

import { createLog } from '../../base/log.ts'
import { formatDay } from '../../base/day.ts'
import { ignoreDebuggerSignal } from '../../base/system/debugger-signal.ts'
import { parseDurationMs } from '../../base/time-text.ts'
import { logAddressFormatter } from '../../observe/log-address.ts'
import { type RunningServer, type ServerOptions, runPrimary } from '../../serve/primary.ts'
import { urlOf } from '../../supervisor/sockets/port-probe.ts'
import { formatCounted } from '../../base/text/number-format.ts'
import { adminName } from './ask-admin.ts'
import { buildChildCommand } from './build-child.ts'
import { compilerMissing } from '../compiler/load-compiler.ts'
import type { Io } from '../terminal/io.ts'

/** What `iprisk start` does otherwise. */
export interface ServeWays {
  /** Arguments of each build by the server itself. */
  readonly buildArguments: readonly string[]
  /** Where the present table lacks its feeds: more of them, and whether a new one does so still. */
  readonly catchUp?:
    { readonly arguments: readonly string[]; readonly isBehind: () => boolean } | undefined
  /** Of these builds; by default that of this process. */
  readonly environment?: NodeJS.ProcessEnv | undefined
  readonly onRunning: (running: RunningServer) => void
}

/** Resolves to the exit code when the server has drained. */
export function runServer(
  { settings, configuration, early }: Pick<ServerOptions, 'settings' | 'configuration' | 'early'>,
  io: Io,
  { buildArguments: own, catchUp, environment, onRunning }: ServeWays,
): Promise<number> {
  const log = createLog({
    level: settings.serve.logLevel,
    name: 'iprisk',
    pretty: io.errIsTerminal,
    addresses: logAddressFormatter(settings.serve),
  })
  ignoreDebuggerSignal((message) => log.warn(message))
  // No reason to end a server that answers: each refresh fails, and is counted.
  const missing = parseDurationMs(settings.serve.refreshEvery) > 0 ? compilerMissing() : undefined
  if (missing !== undefined) log.error({}, `--refresh-every will fail. ${missing.message}`)
  return runPrimary({
    settings,
    buildCommand: buildChildCommand(settings, configuration, ...own),
    catchUp: catchUp && {
      command: buildChildCommand(settings, configuration, ...own, ...catchUp.arguments),
      isBehind: catchUp.isBehind,
    },
    buildEnvironment: environment,
    configuration,
    early,
    log,
    onRunning: (running) => {
      io.err(runningLine(running))
      onRunning(running)
    },
  })
}

function runningLine(running: RunningServer): string {
  const { table } = running
  const what =
    table === undefined
      ? 'no table yet, so checks answer 503'
      : `table ${table.id} as of ${formatDay(table.asOf)}`
  const workers = formatCounted(running.workers, 'worker', 'workers')
  return `iprisk serves ${urlOf(running)} with ${workers}, ${what}; metrics and health on ${adminName(running)}`
}
