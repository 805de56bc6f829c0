// The first acts of a server with its settings, before the rest of its code is loaded: it listens
// for signals, and begins to verify its table, which takes longest and needs nothing of the rest.
//
// What each piece of acceleration gave, in ms of about 900 from the start of the process to 200 of
// /readyz, on 2 cores with 2 workers and a table of 190 MB; what gives more than 50 stays.
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
  /** To be called last of all, however the server ends: gives up what is under way. */
  readonly end: () => Promise<void>
}

export function beginStart({ state, table: path, invocation }: Settings): EarlyStart {
  const hangUps = captureSighup()
  // A SIGUSR2 without a listener ends the process; during a start there is nothing to restart.
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
      // What verifies the table is ended by that, and leaves nothing behind.
      await firstTable.loaded
      copies.close()
      shutdown.stop()
      hangUps.stop()
    },
  }
}
