// The cable between a fleet and its store: passes bytes on, and can be cut. While it is, each
// connection breaks off after some bytes of the answer.

import { type Socket, connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** What still passes of an answer when the cable is cut: a manifest does, and half of the parts. */
const cutBytes = 3000

export interface Cable {
  readonly port: number
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

export async function layCable(to: number): Promise<Cable> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect({ port: to, host: '127.0.0.1' })
    let passed = 0
    const end = (): void => {
      near.destroy()
      far.destroy()
      open.delete(near)
    }
    open.add(near)
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => {
      passed += bytes.length
      if (isCut && passed > cutBytes) near.write(bytes.subarray(0, bytes.length >> 1), end)
      else near.write(bytes)
    })
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
    },
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
