// Runs calls in a later turn of the event loop, in order, to close connections. Not setImmediate:
// it runs between uWebSockets.js (20.0.8) freeing closed connections and libuv releasing their
// handles, and a connection closed there leaks 450 bytes. A message port is read before both.

import { MessageChannel } from 'node:worker_threads'

let waiting: (() => void)[] = []

const { port1: wakeSender, port2: wakeReceiver } = new MessageChannel()
wakeReceiver.on('message', () => {
  const due = waiting
  waiting = []
  for (const call of due) call()
})
wakeReceiver.unref()

/** `call` must not throw. */
export function deferClose(call: () => void): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, no origin
  if (waiting.push(call) === 1) wakeSender.postMessage(undefined)
}
