// Queries the admin port of the server that the settings name.

import { type IncomingMessage, request } from 'node:http'
import type { ServeSettings } from '../../config/settings.ts'
import { urlOf } from '../../supervisor/sockets/port-probe.ts'
import type { ServerStatus } from '../../admin/status.ts'
import { readAdminToken } from '../../admin/admin-caller.ts'

/** A scrape waits half a second for a worker. */
const answerMs = 5000

/** Answers are a few kilobytes. */
const answerCharsMax = 4_194_304

export function adminName({
  adminSocket,
  adminHost,
  adminPort,
}: Pick<ServeSettings, 'adminHost' | 'adminPort'> & {
  readonly adminSocket?: string | undefined
}): string {
  return adminSocket ?? urlOf({ host: adminHost, port: adminPort })
}

/** `undefined` without an answer in time. Throws `admin_token_unusable`. */
export async function askAdmin(serve: ServeSettings, path: string) {
  const { adminSocket, adminHost: host, adminPort: port, adminTokenFile } = serve
  const headers =
    adminTokenFile === undefined
      ? {}
      : { authorization: `Bearer ${readAdminToken(adminTokenFile)}` }
  const at =
    adminSocket === undefined ? { host: connectableHost(host), port } : { socketPath: adminSocket }
  try {
    return await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const signal = AbortSignal.timeout(answerMs)
      const outgoing = request({ ...at, path, headers, signal, agent: false }, (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
      })
      outgoing.on('error', reject)
      outgoing.end()
    })
  } catch {
    return undefined
  }
}

/** Wildcard addresses become loopback. */
export function connectableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > answerCharsMax)
      throw new Error('The answer is not from an iprisk admin port.')
  }
  return text
}

export type StatusAnswer =
  | { readonly kind: 'status'; readonly status: ServerStatus }
  | { readonly kind: 'silent' }
  | { readonly kind: 'denied' }
  /** Not iprisk, or a much older one. */
  | { readonly kind: 'stranger' }

export async function askStatus(serve: ServeSettings): Promise<StatusAnswer> {
  const answer = await askAdmin(serve, '/status')
  if (answer === undefined) return { kind: 'silent' }
  if (answer.status === 401) return { kind: 'denied' }
  try {
    const status = JSON.parse(answer.text) as ServerStatus
    if (answer.status === 200 && 'uptime_seconds' in status) return { kind: 'status', status }
  } catch {}
  return { kind: 'stranger' }
}
