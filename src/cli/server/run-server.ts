// Runs the server until a signal ends it.

import { createLog } from '../../base/log.ts'
import { formatDay } from '../../base/day.ts'
import { ignoreDebuggerSignal } from '../../base/system/debugger-signal.ts'
import { parseDurationMs } from '../../base/time-text.ts'
import { logAddressFormatter } from '../../observe/log-address.ts'
import { type RunningServer, type ServerOptions, runPrimary } from '../../serve/primary.ts'
import { urlOf } from '../../supervisor/sockets/port-probe.ts'
import { formatCounted } from '../../base/text/number-format.ts'
import { adminName } from './ask-admin.ts'
import { buildChildCommand, childCommand } from './build-child.ts'
import { compilerMissing } from '../compiler/load-compiler.ts'
import type { Io } from '../terminal/io.ts'

/** What `iprisk start` does differently. */
export interface ServeWays {
  readonly buildArguments: readonly string[]
  /** If the table lacks feeds: the arguments that fetch them, and whether they are still missing.
   * */
  readonly catchUp?:
    { readonly arguments: readonly string[]; readonly isBehind: () => boolean } | undefined
  readonly environment?: NodeJS.ProcessEnv | undefined
  /** The secret of the link that signs in to the console once. */
  readonly linkSecret?: string | undefined
  readonly onRunning: (running: RunningServer) => void
}

/** Returns the exit code after draining. */
export function runServer(
  { settings, configuration, early }: Pick<ServerOptions, 'settings' | 'configuration' | 'early'>,
  io: Io,
  { buildArguments: own, catchUp, environment, linkSecret, onRunning }: ServeWays,
): Promise<number> {
  const log = createLog({
    level: settings.serve.logLevel,
    name: 'iprisk',
    pretty: io.errIsTerminal,
    addresses: logAddressFormatter(settings.serve),
  })
  ignoreDebuggerSignal((message) => log.warn(message))
  // A server that answers keeps running: each refresh fails, and is counted.
  const missing = parseDurationMs(settings.serve.refreshEvery) > 0 ? compilerMissing() : undefined
  if (missing !== undefined) log.error({}, `--refresh-every cannot work. ${missing.message}`)
  return runPrimary({
    settings,
    buildCommand: buildChildCommand(settings, configuration, ...own),
    catchUp: catchUp && {
      command: buildChildCommand(settings, configuration, ...own, ...catchUp.arguments),
      isBehind: catchUp.isBehind,
    },
    explainCommand: childCommand('explain', configuration),
    buildEnvironment: environment,
    configuration,
    early,
    linkSecret,
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
