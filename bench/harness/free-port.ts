// Free ports for programs that must be given a number, and ports on which nothing listens.

import { randomInt } from 'node:crypto'
import { probePort } from '../../src/supervisor/sockets/port-probe.ts'

/** Below the ephemeral ports, so no other process is assigned one before it is used. */
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
