// Which threads have mapped which tables, and waiting until they have let go of one.
//
// A thread that dies leaves its maps, which are then freed here: memory is the process's, and where
// each map lies was said when it was made.
//
// Invariants: a table is retired only when no request names it any more (pool.ts), so a thread that
// has said `retired` does not map it again. A map is freed once: by its thread, which says so, or by
// this file when the thread is dead and all that it said has been heard.

import { type MappedRegion, unmapRegion } from '../base/memory-map.ts'
import { onChannelMessage, openThreadChannel, sendToChannel } from './thread-channel.ts'

export interface TableRelease {
  /** A task of the table has run in the thread. */
  readonly noteMapping: (table: number, thread: number) => void
  /** A thread has died: the maps of all but these are nobody's. */
  readonly onThreadExit: (living: () => readonly number[]) => void
  /** Resolves when all threads that have mapped it have unmapped it, or after a while. */
  readonly retire: (table: number) => Promise<void>
  /** No thread lives any more. */
  readonly close: () => void
}

/** A thread answers between two tasks, milliseconds apart; one that does not is not waited for. */
const answerMsMax = 5000

/** What a thread said before its death is heard long before this. */
const messageDelayMsMax = 1000

export function openTableRelease(name: string): TableRelease {
  /** By table, and there by thread; the place comes by the channel, before or after a first result. */
  const mapped = new Map<number, Map<number, MappedRegion | undefined>>()
  const waiting = new Map<number, () => void>()
  const channel = openThreadChannel(name)
  const threadsOf = (table: number): Map<number, MappedRegion | undefined> =>
    mapped.get(table) ?? new Map<number, MappedRegion | undefined>()
  const forgetMapping = (table: number, thread: number): void => {
    const threads = mapped.get(table)
    threads?.delete(thread)
    if (threads?.size === 0) waiting.get(table)?.()
  }
  const unmapDead = (living: readonly number[]): void => {
    for (const [table, threads] of mapped) {
      for (const [thread, place] of threads) {
        if (living.includes(thread)) continue
        if (place !== undefined) unmapRegion(place)
        forgetMapping(table, thread)
      }
    }
  }
  onChannelMessage(channel, (message) => {
    if (message.kind === 'retired') forgetMapping(message.table, message.thread)
    if (message.kind !== 'mapped') return
    const { table, thread, place } = message
    mapped.set(table, threadsOf(table).set(thread, place))
  })
  return {
    noteMapping: (table, thread) => {
      const threads = threadsOf(table)
      if (!threads.has(thread)) mapped.set(table, threads.set(thread, undefined))
    },
    onThreadExit: (living) => void setTimeout(() => unmapDead(living()), messageDelayMsMax).unref(),
    retire: async (table) => {
      if ((mapped.get(table)?.size ?? 0) > 0) {
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, answerMsMax)
          waiting.set(table, () => {
            clearTimeout(late)
            resolve()
          })
          sendToChannel(channel, { kind: 'retire', table })
        })
      }
      waiting.delete(table)
      mapped.delete(table)
    },
    close: () => {
      const last = setTimeout(() => {
        unmapDead([])
        channel.close()
      }, messageDelayMsMax)
      last.unref()
    },
  }
}
