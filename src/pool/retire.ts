// Which threads have mapped which tables, and waiting until they have let go of one.
//
// Invariant: a table is retired only when no request names it any more (pool.ts), so a thread that
// has said `retired` does not map it again.

import { hear, openChannel, say } from './channel.ts'

export interface Retirement {
  /** A task of the table has run in the thread. */
  readonly note: (table: number, thread: number) => void
  /** Only these threads live: the maps of others are nobody's. */
  readonly keep: (threads: readonly number[]) => void
  /** Resolves when all threads that have mapped it have unmapped it, or after a while. */
  readonly retire: (table: number) => Promise<void>
  readonly close: () => void
}

/** A thread answers between two tasks, milliseconds apart; one that does not is not waited for. */
const answerMsMax = 5000

export function openRetirement(name: string): Retirement {
  const mapped = new Map<number, Set<number>>()
  const waiting = new Map<number, () => void>()
  const channel = openChannel(name)
  const drop = (table: number, thread: number): void => {
    const threads = mapped.get(table)
    threads?.delete(thread)
    if (threads?.size === 0) waiting.get(table)?.()
  }
  hear(channel, (message) => {
    if (message.kind === 'retired') drop(message.table, message.thread)
  })
  return {
    note: (table, thread) => {
      const threads = mapped.get(table)
      if (threads === undefined) mapped.set(table, new Set([thread]))
      else threads.add(thread)
    },
    keep: (living) => {
      for (const [table, threads] of mapped) {
        for (const thread of threads) if (!living.includes(thread)) drop(table, thread)
      }
    },
    retire: async (table) => {
      if ((mapped.get(table)?.size ?? 0) > 0) {
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, answerMsMax)
          waiting.set(table, () => {
            clearTimeout(late)
            resolve()
          })
          say(channel, { kind: 'retire', table })
        })
      }
      waiting.delete(table)
      mapped.delete(table)
    },
    close: () => channel.close(),
  }
}
