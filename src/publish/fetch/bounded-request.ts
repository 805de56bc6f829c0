// One HTTP request by Node's client, with limits on the time to connect, between bytes and in
// total, and on the bytes of the answer. For published tables and object stores: a server may run
// without the client of build/fetch.
//
// The operator's address may be anywhere, including private networks, and so may redirects to its
// origin; other redirects must lead to a public address (src/ip/outbound-policy.ts).

import { lookup } from 'node:dns'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent, request as askHttp } from 'node:http'
import { Agent as TlsAgent, request as askHttps } from 'node:https'
import { messageOf } from '../../base/coded-error.ts'
import {
  isRedirect,
  isSpecialHost,
  judgeRedirect,
  outboundLookup,
  redirectsMax,
} from '../../ip/outbound-policy.ts'
import { pullError } from './pull-refusal.ts'

/** Idle: between bytes of the answer. */
export const requestBounds = { connectMs: 5000, idleMs: 10_000, wholeMs: 60_000 }

export interface BoundedRequest {
  readonly url: URL
  readonly method?: 'GET' | 'PUT' | 'DELETE'
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Uint8Array | undefined
  readonly bytesMax: number
  readonly bounds?: Readonly<typeof requestBounds>
  /** Connects to public addresses only, and follows no redirect. */
  readonly isPublic?: boolean
}

export interface BoundedAnswer {
  readonly status: number
  readonly body: Buffer
  readonly etag: string | undefined
  readonly contentType: string | undefined
}

const connectionsMax = 8
const keptMs = 4000
const agentOptions = { keepAlive: true, keepAliveMsecs: keptMs, maxSockets: connectionsMax }
const agents = { 'http:': new Agent(agentOptions), 'https:': new TlsAgent(agentOptions) }
/** For other origins after a redirect; not shared with the operator's. */
const publicOnly = { 'http:': new Agent(agentOptions), 'https:': new TlsAgent(agentOptions) }

/** Throws `pull_unreachable`, `pull_slow`, `pull_size`, `pull_redirect`. */
export async function boundedRequest(asked: BoundedRequest): Promise<BoundedAnswer> {
  const { bounds = requestBounds, method = 'GET' } = asked
  const until = performance.now() + bounds.wholeMs
  let { url } = asked
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const own = url.origin === asked.url.origin && asked.isPublic !== true
    if (!own && isSpecialHost(url.hostname)) throw privateTarget(asked.url, url.hostname)
    const answer = await requestOnce({ ...asked, url, bounds }, { own, until })
    if (!isRedirect(answer.status) || method !== 'GET' || asked.isPublic) return answer
    url = redirectTarget(url, answer.location)
  }
  throw pullError('redirect', `${shownUrl(asked.url)}: more than ${redirectsMax} redirects`)
}

/** Without query and credentials, which may be secret. */
export const shownUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`

function redirectTarget(from: URL, location: string | undefined): URL {
  const redirect = judgeRedirect(from, location)
  if (redirect.kind === 'follow') return redirect.to
  const why =
    redirect.kind === 'no_address'
      ? 'a redirect without a usable address'
      : `redirects to ${redirect.to.protocol}//${redirect.to.host}, which can be read in transit`
  throw pullError('redirect', `${shownUrl(from)}: ${why}`)
}

const privateTarget = (from: URL, host: string): Error =>
  pullError('redirect', `${shownUrl(from)}: leads to ${host}, which is not a public address`)

function requestOnce(
  asked: BoundedRequest & Required<Pick<BoundedRequest, 'bounds'>>,
  { own, until }: { readonly own: boolean; readonly until: number },
): Promise<Awaited<ReturnType<typeof readAnswer>>> {
  const { url, method = 'GET', headers = {}, body, bounds } = asked
  const shown = shownUrl(url)
  const ask = url.protocol === 'https:' ? askHttps : askHttp
  const agent = (own ? agents : publicOnly)[url.protocol as 'http:' | 'https:']
  const refuse = (host: string, address: string): Error =>
    privateTarget(asked.url, `${host} (${address})`)
  return new Promise((resolve, reject) => {
    const request = ask(url, {
      method,
      // Headers are for the named origin only.
      headers: own ? headers : {},
      agent,
      ...(own ? {} : { lookup: outboundLookup(lookup, refuse) }),
    })
    const stop = (error: Error): void => {
      end()
      request.destroy()
      reject(error)
    }
    const late = (what: string): (() => void) => {
      return () => stop(pullError('slow', `${shown}: ${what}`))
    }
    const whole = setTimeout(
      late(`not finished within ${bounds.wholeMs / 1000} s`),
      Math.max(1, until - performance.now()),
    )
    let step = setTimeout(late(`no answer within ${bounds.idleMs / 1000} s`), bounds.idleMs)
    const connect = setTimeout(
      late(`not connected within ${bounds.connectMs / 1000} s`),
      bounds.connectMs,
    )
    const touched = (): void => {
      clearTimeout(step)
      step = setTimeout(late(`no byte for ${bounds.idleMs / 1000} s`), bounds.idleMs)
    }
    const end = (): void => {
      for (const timer of [whole, step, connect]) clearTimeout(timer)
    }
    request.once('socket', (socket) => {
      if (!socket.connecting) clearTimeout(connect)
      else socket.once('connect', () => clearTimeout(connect))
    })
    request.once('error', (error) => stop(brokenOff(shown, error)))
    request.once('response', (response) => {
      const whole = readAnswer(response, { bytesMax: asked.bytesMax, shown, touched })
      whole.finally(end).then(resolve, stop)
    })
    request.end(body)
  })
}

async function readAnswer(
  response: IncomingMessage,
  { bytesMax, shown, touched }: { bytesMax: number; shown: string; touched: () => void },
) {
  const tooLarge = (): Error => pullError('size', `${shown}: more than ${bytesMax} bytes`)
  const { etag, location, 'content-type': contentType } = response.headers
  const status = response.statusCode ?? 0
  // An answer with another status may say why.
  const isOwn = status === 200
  if (isOwn && Number(response.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      touched()
      bytes += chunk.length
      if (bytes > Math.max(bytesMax, isOwn ? 0 : 65_536)) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    throw brokenOff(shown, error)
  }
  return { status, body: Buffer.concat(chunks, bytes), etag, contentType, location }
}

function brokenOff(shown: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code?.startsWith('pull_') === true) return error as Error
  return pullError('unreachable', `${shown}: ${messageOf(error) || code || 'broken off'}`, error)
}
