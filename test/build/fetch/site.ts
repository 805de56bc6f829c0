// A real HTTP server on the loopback whose answers a test decides, path by path; it keeps what it
// was asked. Not a test itself.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Day } from '../../../src/base/day.ts'
import { parseDay } from '../../../src/base/day.ts'
import type { Feed, FeedFile } from '../../../build/catalogue/feed.ts'
import type { FetchLimits } from '../../../build/fetch/fetch-limits.ts'
import { fetchLimits } from '../../../build/fetch/fetch-limits.ts'
import { atEndOfTest } from '../../ends.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface Site {
  readonly server: Server
  readonly url: string
  readonly port: number
  /** By path. */
  readonly handlers: Map<string, Handler>
  readonly requests: IncomingMessage[]
  /** Requests for that path. */
  count(path: string): number
}

const cleanups: (() => Promise<void> | void)[] = []

atEndOfTest(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

export async function openSite(handlers: Readonly<Record<string, Handler>> = {}): Promise<Site> {
  const byPath = new Map(Object.entries(handlers))
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    const handler = byPath.get(request.url ?? '')
    if (handler !== undefined) handler(request, response)
    else response.writeHead(404).end('nothing here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const count = (path: string): number => requests.filter(({ url }) => url === path).length
  return { server, port, url: `http://127.0.0.1:${port}`, handlers: byPath, requests, count }
}

/** A port of the loopback on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export function text(body: string | Buffer, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body)
  }
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-fetch-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Waits that a test can bear; all else as in the product. */
export const quickLimits: FetchLimits = {
  ...fetchLimits,
  connectMs: 1000,
  headersMs: 300,
  idleMs: 300,
  wholeMs: 1000,
  backoffMs: 10,
  backoffMsMax: 40,
  retryAfterMsMax: 2000,
}

export const today = parseDay('2026-08-22') as Day

export function newFeed(
  id: string,
  urls: Readonly<Record<string, string>>,
  more: { readonly cadence?: Feed['cadence']; readonly file?: Partial<FeedFile> } = {},
): Feed {
  return {
    id,
    title: id,
    kind: 'tor',
    provider: '',
    group: id,
    weight: 1,
    assurance: 'good',
    rolling: false,
    enabled: true,
    licence: 'CC0-1.0',
    homepage: 'https://example.org/',
    cadence: more.cadence ?? 'daily',
    asns: [],
    widest: { ipv4: 8, ipv6: 16 },
    files: Object.entries(urls).map(([path, url]) => ({
      path,
      role: 'use',
      url,
      format: 'list',
      bytes: { min: 1, max: 1_000_000 },
      ...more.file,
    })),
  }
}
