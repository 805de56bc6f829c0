// The channel between a worker and all threads of its pool, beside the tasks: threads say where
// they have mapped a table, the worker which one to unmap. It keeps no process alive.

import { BroadcastChannel } from 'node:worker_threads'
import type { MappedMessage, RetireMessage, RetiredMessage } from './pool-task.ts'

export type ChannelMessage = MappedMessage | RetireMessage | RetiredMessage

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
