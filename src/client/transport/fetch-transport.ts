// The transport of runtimes that have fetch: Deno, Bun, edge runtimes, browsers' workers. The pool
// of connections is the runtime's own.

import { type Transport, replyTooLong } from './transport.ts'

export function createFetchTransport(): Transport {
  return {
    async send({ url, headers, body, signal, replyCharsMax }) {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'manual',
      })
      return {
        status: response.status,
        text: await textOf(response, replyCharsMax),
        requestId: response.headers.get('x-request-id') ?? undefined,
      }
    },
    close: () => undefined,
  }
}

async function textOf({ body }: Response, charsMax: number): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: !done })
    if (done) return text
    // The request's sender aborts it for this.
    if (text.length > charsMax) throw replyTooLong()
  }
}
