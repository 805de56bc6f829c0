// The crowd of overload.ts, in a process of its own, of the priority that it is told: what it
// computes is not to keep the load of those within from asking, where that is judged. Says when it
// has started, and begins when it is told. Connections that come again and again, a second after
// they were turned away; told to end, it says how many were.
//
//   crowd-main.js PORT COUNT PRIORITY

import { once, setMaxListeners } from 'node:events'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const [port = 0, count = 0, priority = 0] = process.argv.slice(2).map(Number)
const againMs = 1000

export interface CrowdReport {
  readonly turnedAway: number
  readonly letIn: number
  /** From the first try to the order to end. */
  readonly seconds: number
}

const tally = { turnedAway: 0, letIn: 0 }
const stop = new AbortController()
setMaxListeners(0, stop.signal)

async function client(): Promise<void> {
  while (!stop.signal.aborted) {
    const begun = performance.now()
    await new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' })
      const leave = (): void => void socket.destroy()
      stop.signal.addEventListener('abort', leave)
      socket.on('error', () => undefined)
      socket.resume()
      socket.once('close', () => {
        stop.signal.removeEventListener('abort', leave)
        if (stop.signal.aborted) tally.letIn += 1
        else tally.turnedAway += 1
        resolve()
      })
    })
    const restMs = againMs - (performance.now() - begun)
    if (restMs > 0) await sleep(restMs, undefined, { signal: stop.signal }).catch(() => undefined)
  }
}

process.on('disconnect', () => process.exit(0))
process.send?.('ready')
await once(process, 'message')
// None may be raised: where all of this runs at a low one, it stays there.
if (priority > 0) setPriority(priority)
const from = performance.now()
const clients = Promise.all(Array.from({ length: count }, client))
process.once('message', () => {
  const seconds = (performance.now() - from) / 1000
  stop.abort()
  const tell = (report: CrowdReport): void => void process.send?.(report, () => process.exit(0))
  void clients.then(() => tell({ ...tally, seconds }))
})
