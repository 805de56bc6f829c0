// A proxy of TCP between a client and a server that does to each connection, or to each request on
// it, what goes wrong in networks: it delays, cuts, resets, keeps silent, and answers in the
// server's place with floods of refusals.

import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export const faults = [
  'none',
  'delay',
  'silence',
  'cut',
  'reset',
  'half',
  '401',
  '429',
  '500',
  '503',
] as const
export type Fault = (typeof faults)[number]

export interface FaultProxy {
  readonly port: number
  /** What happens to requests from now on. */
  fault: Fault
  readonly close: () => Promise<void>
}

/** How late a delayed request is handed on, milliseconds: beyond the time-out of most clients. */
const delayMs = 400

export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => apply(proxy.fault, client, upstream, bytes))
    upstream.on('data', (bytes) => client.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    port: (server.address() as AddressInfo).port,
    fault: 'none',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return proxy
}

function apply(fault: Fault, client: Socket, upstream: Socket, bytes: Buffer): void {
  switch (fault) {
    case 'none':
      upstream.write(bytes)
      return
    case 'delay':
      setTimeout(() => upstream.write(bytes), delayMs)
      return
    case 'silence':
      return
    case 'cut':
      client.end()
      return
    case 'reset':
      client.resetAndDestroy()
      return
    case 'half':
      client.end('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"classification":')
      return
    case '401':
    case '429':
    case '500':
    case '503':
      client.write(`HTTP/1.1 ${fault} Fault\r\nContent-Length: 2\r\n\r\n{}`)
      return
  }
}
