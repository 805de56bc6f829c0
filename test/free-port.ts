// Ports for programs that are told theirs, or told one on which nobody listens.

import { randomInt } from 'node:crypto'
import { probePort } from '../src/supervisor/sockets/port-probe.ts'

/** Below those that the system gives to whoever connects or asks for any, so also free later. */
const first = 12_000
/** A node of a Redis cluster listens 10,000 above its port, too. */
const count = 10_000

let next = randomInt(count)

/** One of loopback; each only once in this process. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = first + (next++ % count)
    try {
      return await probePort({ host: '127.0.0.1', port })
    } catch (error) {
      if (tries === 100) throw error
    }
  }
}
