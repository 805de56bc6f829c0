// The packed client in Next 16: built and started as its users do, a route handler and a `proxy.ts`
// protect a login against a real server, behind real proxies.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { isWanted, proxyNames } from '../../hostile/proxies.ts'
import { keyedState, serversOfTests } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { startFrontProxy } from '../front-proxies.ts'
import {
  installFresh,
  newFreshFolder,
  packClient,
  removeFolders,
  runFresh,
} from './fresh-folder.ts'

const packages = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'typescript@5.9.3',
  '@types/node@20.19.43',
  '@types/react@19.3.0',
]

const files: Readonly<Record<string, string>> = {
  'next.config.mjs': 'export default { experimental: { cpus: 1 } }',
  'app/layout.tsx': `
import type { ReactNode } from 'react'
export default function Layout({ children }: { children: ReactNode }) {
  return <html><body>{children}</body></html>
}`,
  'app/account/page.tsx': 'export default function Page() { return <p>in</p> }',
  'app/client.ts': `
import { createClient } from 'iprisk-client'
const { IPRISK_URL: url = 'http://127.0.0.1:1', IPRISK_KEY: key = 'irkt_none' } = process.env
const fallback = { unavailable: 'block' } as const
export const client = createClient({ url, key, timeoutMs: 10_000, circuitFailures: 1000, fallback })`,
  'app/login/route.ts': `
import { guarded, ipriskOf } from 'iprisk-client/next'
import type { NextRequest } from 'next/server'
import { client } from '../client'
export const dynamic = 'force-dynamic'
export const POST = guarded({ client, trust: 2 }, (request: NextRequest) => {
  const { address, result } = ipriskOf(request)!
  return Response.json({ address, word: result.ok && result.answer.classification })
})`,
  'proxy.ts': `
import { ipriskProxy } from 'iprisk-client/next'
import { client } from './app/client'
export const proxy = ipriskProxy({ client, trust: 2 })
export const config = { matcher: '/account' }`,
}

const start = serversOfTests()
const ends: (() => unknown)[] = []
afterAll(() => {
  for (const end of ends) end()
  removeFolders()
})

it('protects a login in a route handler, and pages in proxy.ts', async ({ skip }) => {
  const folder = newFreshFolder()
  if (!(await installFresh(folder, [await packClient(), ...packages])))
    skip('npm reaches no registry')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const next = join(folder, 'node_modules/next/dist/bin/next')
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
  execFileSync(process.execPath, [next, 'build'], { cwd: folder, env, stdio: 'pipe' })

  const { state, key } = await keyedState({ test: true })
  const server = await start({ table: writeSmallTable(), state })
  const application = await runFresh(folder, {
    args: [next, 'start', '-p', '0', '-H', '127.0.0.1'],
    environment: {
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
      IPRISK_URL: `http://127.0.0.1:${server.port}`,
      IPRISK_KEY: key,
    },
  })
  ends.push(application.stop)
  for (const proxyName of proxyNames.filter(isWanted)) {
    const { port, stop } = await startFrontProxy(proxyName, { port: application.port, folder })
    ends.push(stop)
    const ask = (method: string, path: string, forwarded: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { 'x-forwarded-for': forwarded },
      })
    const login = await ask('POST', '/login', '198.18.0.9, 198.18.0.6:4711')
    expect(await login.json()).toEqual({ address: '198.18.0.6', word: 'tor' })
    expect((await ask('GET', '/account', '198.18.0.1')).status).toBe(200)
    for (const [method, path] of [
      ['POST', '/login'],
      ['GET', '/account'],
    ] as const) {
      const stopped = await ask(method, path, '198.18.0.22')
      expect([stopped.status, await stopped.json()]).toEqual([
        403,
        expect.objectContaining({ title: 'Forbidden', action: 'block' }),
      ])
    }
  }
})
