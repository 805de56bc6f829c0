// `iprisk serve`: begins with what takes longest, and then loads the rest of the server.

import type { Settings } from '../../config/settings.ts'
import { beginStart } from '../../serve/early-start.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import type { Io } from '../terminal/io.ts'
import type { ServeWays } from './run-server.ts'

/** Resolves to the exit code when the server has drained. */
export async function serveCommand(
  settings: Settings,
  configuration: ConfigSource,
  io: Io,
  ways: ServeWays = { buildArguments: [], onRunning: () => undefined },
): Promise<number> {
  const early = beginStart(settings)
  try {
    const { runServer } = await import('./run-server.ts')
    return await runServer({ settings, configuration, early }, io, ways)
  } finally {
    await early.end()
  }
}
