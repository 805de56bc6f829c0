// Unix sockets that only this user can connect to.

import { type Server, connect } from 'node:net'
import process from 'node:process'
import { socketPathBytesMax } from '../../base/limits.ts'

/** Rejects if the name is invalid or in use. */
export async function listenOnUnixSocket(server: Server, path: string): Promise<void> {
  // Node.js would truncate a longer name.
  const bytes = Buffer.byteLength(path)
  if (bytes > socketPathBytesMax) {
    throw new Error(`${path} has ${bytes} bytes; a socket's name has at most ${socketPathBytesMax}`)
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // This call creates the file synchronously, with these permissions.
    const before = process.umask(0o177)
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
    process.umask(before)
  })
}

export function isSocketListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const settle = (listening: boolean): void => {
      socket.destroy()
      resolve(listening)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      settle(code !== 'ECONNREFUSED' && code !== 'ENOENT')
    })
  })
}
