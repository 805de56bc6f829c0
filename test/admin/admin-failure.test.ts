// What the admin port answers where a handler fails as nobody foresaw: an answer and a line in the
// log, never a connection that ends without one.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../../src/account/keys/issue-key.ts'
import type { KeyStore } from '../../src/account/keys/key-store.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import type { AdminRoute } from '../../src/admin/admin-api.ts'
import { type AdminServer, startAdminServer } from '../../src/admin/admin-server.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-admin-failure-'))
const failures: { readonly error: unknown; readonly what: string }[] = []
let server: AdminServer
let store: KeyStore

const fail = (): never => {
  throw new Error('a secret of the inside')
}
const row = { method: 'GET', role: 'viewer', summary: '', status: 200, answer: {} } as const
const routes: readonly AdminRoute[] = [
  { ...row, path: '/admin/throws', run: fail },
  { ...row, path: '/admin/rejects', run: () => Promise.reject(new Error('inside')) },
  { ...row, path: '/admin/no-json', run: async () => ({ big: 1n }) },
  { ...row, path: '/admin/no-object', run: async () => undefined as unknown as object },
  {
    ...row,
    path: '/admin/full',
    run: async () => {
      for (let made = 0; made < 60; made += 1) {
        await createKey(store, { name: 'x'.repeat(60), plan: 'team', apis: [] }, made)
      }
      return {}
    },
  },
]

beforeAll(async () => {
  store = await openLmdbKeyStore(state)
  server = await startAdminServer(
    {
      readiness: fail,
      metrics: () => Promise.reject(new Error('inside')),
      status: fail,
      onFailure: (error, what) => failures.push({ error, what }),
      routes,
      console: {
        answer: async (_request, path) =>
          path === '/console/head'
            ? { status: 200, type: 'text/html', body: '', headers: { bad: 'two\nlines' } }
            : fail(),
        callerOf: fail,
      },
    },
    { host: '127.0.0.1', port: 0 },
  )
})
afterAll(async () => {
  await server.close()
  await store.close()
  rmSync(state, { recursive: true })
})

const get = async (path: string, headers = {}): Promise<{ status: number; body: unknown }> => {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
  return { status: answer.status, body: await answer.json() }
}
const error = (code: string): object => ({ error: { code, message: expect.any(String) } })

describe('a handler that fails', () => {
  it.each([
    '/admin/throws',
    '/admin/rejects',
    '/admin/no-json',
    '/admin/no-object',
    '/status',
    '/metrics',
    '/readyz',
    '/console',
    '/console/head',
  ])('is answered with 500 and logged: %s', async (path) => {
    failures.length = 0
    const { status, body } = await get(path)
    expect({ status, body }).toEqual({ status: 500, body: error('unexpected_failure') })
    // What went wrong inside is for the log alone.
    expect(JSON.stringify(body)).not.toContain('inside')
    expect(failures).toEqual([{ error: expect.any(Error), what: `GET ${path}` }])
  })

  it('is answered also where it fails while it finds out who asks', async () => {
    expect(await get('/admin/throws', { origin: 'http://x' })).toMatchObject({ status: 500 })
  })

  it('is answered with 503 where the disk of the store is full', async () => {
    failures.length = 0
    const { size } = statSync(join(state, 'keys', 'data.mdb'))
    limitFiles(size)
    try {
      const { status, body } = await get('/admin/full')
      expect({ status, body }).toEqual({ status: 503, body: error('disk_refused') })
    } finally {
      limitFiles('unlimited')
    }
    expect(failures).toEqual([{ error: expect.any(Error), what: 'GET /admin/full' }])
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    // The store goes on when there is room again.
    expect(await get('/admin/full')).toEqual({ status: 200, body: {} })
  })
})

/** No file of this process grows beyond it, as on a full disk; only the soft limit moves. */
function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])
}
