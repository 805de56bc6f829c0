// Which program node:cluster forks, and how V8 runs it.

import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'

const workerProgram = fileURLToPath(new URL('../worker/worker-main.js', import.meta.url))

/**
 * Young objects of a worker have 4 MB before they are collected. V8 begins with one, gives back
 * what grew beyond it whenever a worker was idle, and grows again only where much survives, of
 * which checks leave nothing: 9 collections in 10,000 checks, at 35,000 checks a second thirty a
 * second, and in each of them everybody waits. With four they are 2. Helper threads, which have
 * little to copy and few buffers to free, would only have to be waited for: up to 14 ms where every
 * core was busy.
 */
const workerFlags = [
  '--min-semi-space-size=4',
  '--no-parallel-scavenge',
  '--no-concurrent-array-buffer-sweeping',
] as const

/** From now on a fork is a worker. */
export function setupWorkers(): void {
  // Flags of the operator (`node --min-semi-space-size=… main.js`) come behind ours, and so win.
  // NODE_OPTIONS reaches workers, too, but any command line overrides it, and Node 20 refuses each
  // of these flags there.
  const execArgv = [...workerFlags, ...process.execArgv]
  cluster.setupPrimary({ exec: workerProgram, args: [], execArgv, silent: false })
}
