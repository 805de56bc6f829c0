// Runs tasks with a limit over all and a limit for each host. A task whose host is full is passed
// over, so that forty files of one host do not keep those of others waiting.

export interface HostTask {
  readonly host: string
  readonly run: () => Promise<void>
}

/** Ends when every task has. A task that throws stops the start of further ones and is rethrown. */
export async function runWithHostConcurrency(
  tasks: readonly HostTask[],
  limits: { readonly all: number; readonly perHost: number },
): Promise<void> {
  const waiting = interleaveHosts(tasks)
  const running = new Map<string, number>()
  const active = new Set<Promise<void>>()
  while (waiting.length > 0 || active.size > 0) {
    const index =
      active.size < limits.all
        ? waiting.findIndex(({ host }) => (running.get(host) ?? 0) < limits.perHost)
        : -1
    const task = index === -1 ? undefined : waiting.splice(index, 1)[0]
    if (task === undefined) {
      await Promise.race(active)
      continue
    }
    running.set(task.host, (running.get(task.host) ?? 0) + 1)
    const done = task.run().finally(() => {
      running.set(task.host, (running.get(task.host) ?? 0) - 1)
      active.delete(done)
    })
    active.add(done)
  }
}

/** Each host's first task, then each host's second, …: a dead network shows in the first eight. */
function interleaveHosts(tasks: readonly HostTask[]): HostTask[] {
  const seen = new Map<string, number>()
  return tasks
    .map((task) => {
      const turn = seen.get(task.host) ?? 0
      seen.set(task.host, turn + 1)
      return { task, turn }
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ task }) => task)
}
