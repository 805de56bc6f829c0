// The packed client, installed in a fresh folder with each framework and runtime: real requests
// through real proxies to a real server, which answers a test key.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWanted, proxyNames } from '../../hostile/proxies.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { startFrontProxy } from '../front-proxies.ts'
import { applications } from './applications.ts'
import {
  installFresh,
  newFreshFolder,
  packClient,
  removeFolders,
  runFresh,
} from './fresh-folder.ts'

const names = Object.keys(applications)
const keys = new Map<string, string>()
const ends: (() => unknown)[] = []
let server: Server
let packed = ''

beforeAll(async () => {
  packed = await packClient()
  const state = newState()
  // One each, for each has ten requests a second.
  for (const name of names) keys.set(name, await makeKey(state, { test: true }))
  server = await startServer({ table: writeSmallTable(), state })
})
afterAll(async () => {
  for (const end of ends) await end()
  await server.stop()
  removeFolders()
})

/** What the client wrote, and what the application answered. */
const logins = [
  ['198.18.0.1', 200, { action: 'allow', address: '198.18.0.1', word: 'clean' }],
  ['unknown, 198.18.0.6:4711', 200, { address: '198.18.0.6', word: 'tor' }],
  ['198.18.0.1, [2001:db8:0:1::5]:443', 200, { address: '2001:db8:0:1::5', word: 'vpn' }],
  ['198.18.0.22', 403, { title: 'Forbidden', action: 'block' }],
] as const

describe.concurrent.each(names)('%s', (name) => {
  it('protects a login behind nginx and HAProxy', async ({ skip }) => {
    const { packages, program, runtime } = applications[name]!
    const folder = newFreshFolder()
    if (!(await installFresh(folder, [packed, ...packages]))) skip('npm reaches no registry')
    writeFileSync(join(folder, 'application.mjs'), program)
    const application = await runFresh(folder, {
      runtime,
      args: ['application.mjs'],
      environment: {
        IPRISK_URL: `http://127.0.0.1:${server.port}`,
        IPRISK_KEY: keys.get(name) ?? '',
      },
    })
    ends.push(application.stop)
    for (const proxyName of proxyNames.filter(isWanted)) {
      const proxy = await startFrontProxy(proxyName, { port: application.port, folder })
      ends.push(proxy.stop)
      for (const [forwarded, status, body] of logins) {
        const response = await fetch(`http://127.0.0.1:${proxy.port}/login`, {
          method: 'POST',
          headers: { 'x-forwarded-for': forwarded },
        })
        expect([response.status, await response.json()]).toEqual([
          status,
          expect.objectContaining(body),
        ])
      }
    }
  })
})
