// A client of the admin port for tests of the console: whatever headers a browser, or what pretends
// to be one, would send.

import { request } from 'node:http'

export interface ConsoleReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly value: any
}

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
}

export type Ask = (method: string, path: string, asked?: Asked) => Promise<ConsoleReply>

/** `localAddress`: another of this machine's, which has logins of its own. */
export function adminClient(port: number, localAddress = '127.0.0.1'): Ask {
  const at = { host: '127.0.0.1', port, localAddress }
  return (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }
      const all = { ...headers, ...length }
      const sent = request({ ...at, method, path, headers: all }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = text !== '' && response.headers['content-type'] === 'application/json'
          const value: unknown = isJson ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, value })
        })
      })
      sent.on('error', reject)
      sent.end(text)
    })
}

/** What a browser sends of a page of this origin. */
export const ownPage = { 'sec-fetch-site': 'same-origin' } as const

/** Logs in, and asks as the page does from then on. */
export async function logIn(
  ask: Ask,
  token: string,
): Promise<{ readonly ask: Ask; readonly cookie: string; readonly csrf: string }> {
  const reply = await ask('POST', '/console/login', { headers: ownPage, body: { token } })
  const [cookie = ''] = String(reply.headers['set-cookie']).split(';')
  const { csrf } = reply.value as { readonly csrf: string }
  const own = { ...ownPage, cookie, 'x-iprisk-csrf': csrf }
  return {
    cookie,
    csrf,
    ask: (method, path, asked = {}) =>
      ask(method, path, { ...asked, headers: { ...own, ...asked.headers } }),
  }
}
