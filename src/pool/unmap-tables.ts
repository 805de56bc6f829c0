// Knows which threads have mapped which tables, and waits until they have unmapped a retired one.
//
// A thread that dies leaves its maps behind, for memory belongs to the process. This file unmaps
// them; the thread has sent the address of each when it made it.
//
// Invariants: a table is retired only when no request uses it any more (pool.ts), so a thread that
// has sent `retired` does not map it again. A map is freed once: by its thread, which sends
// `retired`, or by this file when the thread is dead and all of its messages have come in.

import { BroadcastChannel } from 'node:worker_threads'
import { type MappedRegion, unmapRegion } from '../base/system/memory-map.ts'
import type { MappedMessage, RetiredMessage, RetireMessage } from './pool-task.ts'

export interface TableUnmapper {
  /** A task of the table has run in the thread. */
  readonly noteMapping: (table: number, thread: number) => void
  /** A thread has died: after a while, frees the maps of all threads but the living. */
  readonly onThreadExit: (living: () => readonly number[]) => void
  /** Resolves when all threads that have mapped it have unmapped it, or after `answerMsMax`. */
  readonly retire: (table: number) => Promise<void>
  /** All threads have ended. */
  readonly close: () => void
}

/** A thread answers between two tasks, within milliseconds. */
const answerMsMax = 5000

/** The last messages of a dead thread come in long before this. */
const messageDelayMsMax = 1000

export function openTableUnmapper(name: string): TableUnmapper {
  /** By table and thread; the region's message comes before or after the first result. */
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

// The channel between a worker and all threads of its pool, beside the tasks: threads say where
// they have mapped a table, the worker which one to unmap. It keeps no process alive.

type ChannelMessage = MappedMessage | RetireMessage | RetiredMessage

export function openThreadChannel(name: string): BroadcastChannel {
  const channel = new BroadcastChannel(name)
  channel.unref()
  return channel
}

export function onChannelMessage(
  channel: BroadcastChannel,
  take: (message: ChannelMessage) => void,
): void {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- Node's types know no other way
  channel.onmessage = (event) => take((event as { readonly data: ChannelMessage }).data)
}

export function sendToChannel(channel: BroadcastChannel, message: ChannelMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, no origin
  channel.postMessage(message)
}
