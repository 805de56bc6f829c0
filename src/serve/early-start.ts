// A server's first steps, before the rest of its code is loaded: it listens for signals and starts
// to verify its table, which takes longest.
//
// Gains in ms, of about 900 from process start to 200 of /readyz, on 2 cores with 2 workers and a
// table of 190 MB; gains above 50 stay.
//
//   programs are bundled (deploy/bundle-programs.mjs)                         333
//   verifying begins before the rest is loaded (here)                         125
//   a second thread verifies (verify-thread-main.ts)                           68
//   few known answers where no table was before (compare/acceptance-check.ts)  59

import type { Settings } from '../config/settings.ts'
import {
  beginFirstTable,
  createTableCopies,
  type FirstTable,
  type TableCopies,
} from '../supervisor/tables/table-copies.ts'
import { captureSighup, listenForShutdown, type Shutdown, type SighupListener } from './signals.ts'

export interface EarlyStart {
  readonly hangUps: SighupListener
  readonly shutdown: Shutdown
  readonly copies: TableCopies
  readonly firstTable: FirstTable
  /** Call last, however the server ends: cancels work in progress. */
  readonly end: () => Promise<void>
}

export function beginStart({ state, table: path, invocation }: Settings): EarlyStart {
  const hangUps = captureSighup()
  // Without a listener SIGUSR2 ends the process; during a start there is nothing to restart.
  process.on('SIGUSR2', () => undefined)
  const shutdown = listenForShutdown()
  const copies = createTableCopies(state)
  const { signal } = shutdown
  const urgent = !invocation.takeover
  const firstTable = beginFirstTable({ copies, signal }, { path, urgent })
  return {
    hangUps,
    shutdown,
    copies,
    firstTable,
    end: async () => {
      shutdown.abort()
      // Verification was aborted, and leaves nothing behind.
      await firstTable.loaded
      copies.close()
      shutdown.stop()
      hangUps.stop()
    },
  }
}
