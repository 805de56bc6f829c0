// The first acts of a server with its settings, before the rest of its code is loaded: it listens
// for signals, and begins to verify its table, which takes longest and needs nothing of the rest.
//
// What each piece of acceleration is worth, in ms from the start of the process to 200 of /readyz,
// on 2026-11-26: 2 cores of an EPYC that also did other work, Node 20.20.2, 2 workers, a table of
// 190 MB. Medians of n starts without the piece, of their neighbours with it, and of the
// differences; what gives more than 50 stays.
//
//   piece                                             n  without  with  difference
//   programs are bundled (deploy/bundle-programs.mjs) 20    1203   875   333  kept
//   verifying begins before the rest is loaded (here) 66    1011   878   125  kept
//   a second thread verifies (verify-thread-main.ts)  46     950   887    68  kept
//   few known answers where no table was before
//     (compare/acceptance-check.ts)                   20     954   882    59  kept
//
// Deleted, because they gave less: starting the verifying process before options are read (47),
// bundles that `require` packages (29), files of zeros that the system allocates (26), options of the
// named command alone (16), metrics loaded after the start (10), and four that gave nothing.

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
