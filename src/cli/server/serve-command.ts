// `iprisk serve`: begins with the slowest step, then loads the rest of the server.

import type { Settings } from '../../config/settings.ts'
import { beginStart } from '../../serve/early-start.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import type { Io } from '../terminal/io.ts'
import type { ServeWays } from './run-server.ts'

export function serveCommand(
  settings: Settings,
  io: Io,
  _args: readonly string[],
  configuration: ConfigSource,
): Promise<number> {
  return serve(settings, configuration, io, { buildArguments: [], onRunning: () => undefined })
}

/** Returns the exit code after draining. */
export async function serve(
  settings: Settings,
  configuration: ConfigSource,
  io: Io,
  ways: ServeWays,
): Promise<number> {
  const early = beginStart(settings)
  try {
    const { runServer } = await import('./run-server.ts')
    return await runServer({ settings, configuration, early }, io, ways)
  } finally {
    await early.end()
  }
}
