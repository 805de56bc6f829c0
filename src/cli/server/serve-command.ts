// `iprisk serve`: begins with what takes longest, and then loads the rest of the server.

import type { Settings } from '../../config/settings.ts'
import { beginStart } from '../../serve/early-start.ts'
import type { RunningServer } from '../../serve/primary.ts'
import type { ConfigSource } from '../../serve/reload-config.ts'
import type { Io } from '../terminal/io.ts'

/** What `iprisk start` does otherwise. */
export interface ServeWays {
  /** Arguments of each build by the server itself. */
  readonly buildArguments: readonly string[]
  /** Where the present table lacks its feeds: more of them, and whether a new one does so still. */
  readonly catchUp?:
    { readonly arguments: readonly string[]; readonly isBehind: () => boolean } | undefined
  /** Of these builds; by default that of this process. */
  readonly environment?: NodeJS.ProcessEnv
  readonly onRunning: (running: RunningServer) => void
}

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
