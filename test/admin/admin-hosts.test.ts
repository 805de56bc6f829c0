// DNS rebinding: a page in a browser whose name was made to mean this machine reads nothing of the
// admin port, and who asks by address, as probes do, is answered.

import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AdminServer,
  createHostMatcher,
  startAdminServer,
} from '../../src/admin/admin-server.ts'

const own = [
  'localhost',
  'LOCALHOST:9090',
  'localhost.',
  '127.0.0.1',
  '127.0.0.1:9090',
  '[::1]:9090',
  '[::1]',
  // A probe asks a pod by its address, which nobody has told the server.
  '10.244.1.17:9090',
  '[fd00:10:244::11]:9090',
  'admin.internal:9090',
  'Metrics.Example.org',
  'metrics.example.org.:9090',
]
const foreign = [
  'evil.example',
  'evil.example:9090',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'xlocalhost',
  'metrics.example.org.evil.example',
  'example.org',
  '127.0.0.1@evil.example',
  '127.0.0.1:9090:evil.example',
  '[::1].evil.example',
  '127.1',
  '',
]
const isOwnHost = createHostMatcher(['admin.internal', 'metrics.example.ORG'])

describe('a Host', () => {
  it.each(own)('%s is the server’s own', (host) => {
    expect(isOwnHost(host)).toBe(true)
  })

  it.each(foreign)('%s is not', (host) => {
    expect(isOwnHost(host)).toBe(false)
  })

  it('that is absent comes from no browser', () => {
    expect(isOwnHost(undefined)).toBe(true)
  })
})

describe('the admin port', () => {
  let admin: AdminServer
  beforeAll(async () => {
    const parts = {
      readiness: () => 'ready' as const,
      metrics: () => Promise.resolve({ type: 'text/plain', body: 'the metrics' }),
      status: () => Promise.resolve({ fact: 'the status' }),
      isOwnHost,
    }
    admin = await startAdminServer(parts, { host: '127.0.0.1', port: 0 })
  })
  afterAll(async () => admin.close())

  const ask = (path: string, host: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(admin.port, '127.0.0.1')
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      socket.on('end', () => resolve(text)).on('error', reject)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    })

  it.each(['/metrics', '/status', '/healthz', '/readyz', '/else'])(
    'answers %s to its own Host, and to a foreign one 403 that says what to do',
    async (path) => {
      const refused = await ask(path, 'evil.example:9090')
      expect(refused).toMatch(/^HTTP\/1\.1 403 /)
      expect(refused).toContain('--admin-allowed-hosts')
      expect(refused).not.toMatch(/the metrics|the status|evil/)
      expect(await ask(path, '10.244.1.17:9090')).toMatch(/^HTTP\/1\.1 (200|404) /)
      expect(await ask(path, 'metrics.example.org')).toMatch(/^HTTP\/1\.1 (200|404) /)
    },
  )
})
