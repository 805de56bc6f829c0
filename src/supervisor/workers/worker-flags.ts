// How V8 runs a worker; the operator's own flags come behind these, and win (supervisor.ts).

/**
 * Young objects of a worker have 4 MB before they are collected. V8 begins with one, gives back
 * what grew beyond it whenever a worker was idle, and grows again only where much survives, of
 * which checks leave nothing: 9 collections in 10,000 checks, at 35,000 checks a second thirty a
 * second, and in each of them everybody waits. With four they are 2. Helper threads, which have
 * little to copy and few buffers to free, would only have to be waited for: up to 14 ms where every
 * core was busy.
 */
export const workerFlags = [
  '--min-semi-space-size=4',
  '--no-parallel-scavenge',
  '--no-concurrent-array-buffer-sweeping',
] as const
