// deploy/gate/nginx.conf, run by nginx itself in front of a server's gate. Only its ports and
// time-outs are changed, for the machine of the tests may be busy.

import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { freePort } from '../../account/stores/redis/redis-servers.ts'
import { type FrontProxy, nginxAround, startConfigured } from '../../client/front-proxies.ts'
import { describeWith } from '../../deploy/need.ts'
import { converse, responsesIn } from '../../http/raw-socket.ts'
import { type Server, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const shipped = readFileSync(join(packageRoot, 'deploy/gate/nginx.conf'), 'utf8')
const rules = [
  { name: 'tor', condition: 'signals.tor', action: 'block' },
  { name: 'hosting', condition: "network.type == 'hosting'", action: 'challenge' },
]
const login = { rules, otherwise: 'allow' }
const policies = { policies: { default: { rules: [], otherwise: 'allow' }, login } }

describeWith('nginx', ['-v'], () => {
  let gate: Server
  let proxy: FrontProxy
  const seen: string[] = []
  const application = createServer((request, response) => {
    seen.push(String(request.headers['x-iprisk-action'] ?? ''))
    response.setHeader('content-length', 11)
    request.resume().on('end', () => response.end('application'))
  })

  beforeAll(async () => {
    const folder = newState()
    const file = join(folder, 'policies.json')
    writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
    const [gatePort, port] = [await freePort(), await freePort()]
    gate = await startServer({
      table: writeSmallTable(),
      args: ['--policies', file, '--gate', `127.0.0.1:${gatePort}`],
    })
    await once(application.listen(0, '127.0.0.1'), 'listening')
    const behind = application.address() as { port: number }
    const server = shipped
      .replace('server 127.0.0.1:9191', `server 127.0.0.1:${gatePort}`)
      .replace('listen 8000', `listen 127.0.0.1:${port}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${behind.port}`)
      .replaceAll('timeout 200ms', 'timeout 20s')
    // Whose connection it is, in words of the test.
    const from = 'set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;'
    const text = nginxAround(folder, `${from}\n${server}`)
    proxy = await startConfigured('nginx', { port, text, folder })
  })
  afterAll(async () => {
    proxy?.stop()
    application.close()
    application.closeAllConnections()
    await gate?.stop()
  })

  async function visit(address: string, headers: readonly string[] = [], version = '1.1') {
    seen.length = 0
    const lines = [`X-Test-Address: ${address}`, 'Connection: close', 'Host: a', ...headers]
    const head = `POST /login HTTP/${version}\r\n${lines.join('\r\n')}\r\nContent-Length: 9\r\n\r\n`
    const [answer] = responsesIn((await converse(proxy.port, [`${head}email=ada`])).text)
    return { status: answer?.status, body: answer?.body ?? '', seen: seen.join() }
  }

  it('lets in, with the action in place of what the visitor sent', async () => {
    const answer = await visit('9.5.5.5', ['X-Iprisk-Action: forged'])
    expect(answer).toMatchObject({ status: 200, seen: 'allow' })
    expect(await visit('11.1.1.1')).toMatchObject({ status: 200, seen: 'challenge' })
  })

  it('shows a stopped visitor the page, in their language', async () => {
    const answer = await visit('9.1.2.3', ['Accept-Language: fr'])
    expect(answer).toMatchObject({ status: 403, seen: '' })
    expect(answer.body).toContain('Accès impossible')
  })

  it.each(['X-Forwarded-For', 'X-Real-IP', 'CF-Connecting-IP'])(
    'does not believe a visitor’s own %s',
    async (name) => {
      expect((await visit('9.1.2.3', [`${name}: 9.5.5.5`])).status).toBe(403)
      expect((await visit('9.5.5.5', [`${name}: 9.1.2.3`])).status).toBe(200)
    },
  )

  const cookies = Array.from({ length: 4 }, (_, i) => `Cookie: ${i}=${'c'.repeat(2000)}`)
  const many = Array.from({ length: 120 }, (_, i) => `X-Other-${i}: v`)
  it.each([
    ['8 KiB of cookies', cookies, '1.1'],
    ['120 headers', many, '1.1'],
    ['HTTP/1.0', [], '1.0'],
  ])('takes %s', async (_name, headers, version) => {
    expect(await visit('9.5.5.5', headers, version)).toMatchObject({ status: 200, seen: 'allow' })
    expect((await visit('9.1.2.3', headers, version)).status).toBe(403)
  })

  it('keeps its connections to the gate', async () => {
    const before = await gate.metric('iprisk_connections_opened_total')
    for (let i = 0; i < 10; i += 1) await visit('9.5.5.5')
    const opened = (await gate.metric('iprisk_connections_opened_total')) - before
    expect(opened).toBeLessThan(10)
  })

  it('lets in while the gate is away', async () => {
    await gate.stop()
    expect(await visit('9.1.2.3')).toMatchObject({ status: 200, seen: '' })
  })
})
