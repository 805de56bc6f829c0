// The transport of runtimes that have fetch: Deno, Bun, edge runtimes, browsers' workers. The pool
// of connections is the runtime's own.

import type { Transport } from './transport.ts'

export function createFetchTransport(): Transport {
  return {
    async send({ url, headers, body, signal }) {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'manual',
      })
      return {
        status: response.status,
        text: await response.text(),
        requestId: response.headers.get('x-request-id') ?? undefined,
      }
    },
    close: () => undefined,
  }
}
