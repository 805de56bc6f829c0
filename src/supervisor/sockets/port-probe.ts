// Probes a port exclusively before the workers share it: with SO_REUSEPORT two servers would share
// it silently.

import { createServer } from 'node:net'
import { type IpriskError, messageOf, environmentError } from '../../base/coded-error.ts'

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Returns a free port for 0. Throws `port_unavailable`. The port is not held. */
export async function probePort(
  { host, port }: HostPort,
  option: 'port' | 'gate' = 'port',
): Promise<number> {
  const server = createServer()
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
  } catch (cause) {
    throw portUnavailable({ host, port }, option, cause)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

export function portUnavailable(
  { host, port }: HostPort,
  option: 'port' | 'admin-port' | 'gate',
  cause: unknown,
): IpriskError {
  const code =
    typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  const why =
    code === 'EADDRINUSE'
      ? 'another process listens on it. Stop that one, or'
      : code === 'EACCES'
        ? 'this user may not. Choose one from 1024 on, or'
        : `${messageOf(cause)}. Check the address, or`
  return environmentError(
    'port_unavailable',
    `Cannot listen on port ${port} of ${host}: ${why} name another with --${option}.`,
    { retryable: code === 'EADDRINUSE', cause },
  )
}

/** `http://127.0.0.1:8080`; IPv6 addresses in brackets. */
export const urlOf = ({ host, port, tls }: HostPort & { readonly tls?: boolean }): string =>
  `http${tls === true ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}`
