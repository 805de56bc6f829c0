// Runs calls in a later turn of the event loop, in which a connection may be closed. Not
// setImmediate: its phase lies between the moment at which uWebSockets.js (20.0.8) frees closed
// connections and the one at which libuv releases their handles, and a connection that is closed
// there is never freed, 450 bytes each. A message port is read where sockets are read, before both.
//
// Invariants: no call runs within the turn that asked for it; calls run in the order of asking.

import { MessageChannel } from 'node:worker_threads'

let waiting: (() => void)[] = []

const { port1: wakeSender, port2: wakeReceiver } = new MessageChannel()
wakeReceiver.on('message', () => {
  const due = waiting
  waiting = []
  for (const call of due) call()
})
// The calls answer connections, which keep the process alive by themselves.
wakeReceiver.unref()

/** `call` must not throw. */
export function deferClose(call: () => void): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, no origin
  if (waiting.push(call) === 1) wakeSender.postMessage(undefined)
}
