// Checks as a client sends them, for the tests of a server's life.

import { expect } from 'vitest'
import type { Server } from './server.ts'

export const path = '/v1/intelligence/ip-risk/check'

/** The status of one check; 0 where there is no answer. */
export async function check(port: number, key: string, ip = '9.1.2.3'): Promise<number> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
      body: JSON.stringify({ ip }),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

export async function tableId(port: number, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    body: '{"ip":"9.1.2.3"}',
  })
  const { table } = (await response.json()) as { readonly table: string }
  return table
}

/** Asks a few times, so that every worker has been asked. */
export async function statuses(port: number, key: string, count = 12): Promise<Set<number>> {
  const seen = new Set<number>()
  for (let i = 0; i < count; i += 1) seen.add(await check(port, key))
  return seen
}

export function requestOf(key: string): string {
  const body = '{"ip":"9.1.2.3"}'
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** The answer to what must be answered. */
export async function ask<Answer>(
  { port, key }: Pick<Server, 'port'> & { readonly key: string },
  where: string,
  body: object,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${where}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}
