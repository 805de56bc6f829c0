// The gate behind real proxies as deploy/gate/ configures them: each situation for each of them.
// Visitors of all the world: a header of the test's stands in for the address of their connection.

import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../account/stores/redis/redis-servers.ts'
import type { FrontProxy } from '../../client/front-proxies.ts'
import { describeWith } from '../../deploy/need.ts'
import { converse } from '../../http/raw-socket.ts'
import { type Server, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import {
  type GateProxy,
  addressHeader,
  blockOf,
  gateProxies,
  startGateProxy,
} from './gate-proxies.ts'

const clean = '9.5.5.5'
const stopped = '9.1.2.3'
const stopped6 = '2a01:4f8::1'
const doubted = '11.1.1.1'

const rules = [
  { name: 'tor', condition: 'signals.tor', action: 'block' },
  { name: 'hosting', condition: "network.type == 'hosting'", action: 'challenge' },
]
const policies = {
  policies: { default: { rules: [], otherwise: 'allow' }, login: { rules, otherwise: 'allow' } },
}

const seen: string[] = []
const degraded: string[] = []
/** Of the headers that the gate alone may set, what the application saw. */
let facts: readonly string[] = []
const application = createServer((request, response) => {
  seen.push(String(request.headers['x-iprisk-action'] ?? ''))
  degraded.push(String(request.headers['x-iprisk-degraded'] ?? ''))
  facts = Object.entries(request.headers).flatMap(([name, value]) =>
    /^x[-_]iprisk/.test(name) ? [`${name}: ${String(value)}`] : [],
  )
  request.resume().on('end', () => response.end('application'))
})
let applicationPort = 0
/** Accepts and never answers. */
const silent = createTcpServer((socket) => {
  socket.setEncoding('latin1').on('error', () => undefined)
  socket.on('data', (text: string) => (heard += text))
})
let heard = ''
const gates: Record<string, Server> = {}
const gatePorts: Record<string, number> = {}

async function startGate(name: string, args: readonly string[], table = writeSmallTable()) {
  const file = join(newState(), 'policies.json')
  writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
  const port = await freePort()
  const own = ['--policies', file, '--gate', `127.0.0.1:${port}`]
  gates[name] = await startServer({ table, args: [...own, ...args] })
  gatePorts[name] = port
}

beforeAll(async () => {
  await startGate('passing', [])
  await startGate('stopping', ['--gate-challenge', '401'])
  await startGate('empty', [], '/nonexistent/table.iprisk')
  await once(application.listen(0, '127.0.0.1'), 'listening')
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  applicationPort = (application.address() as AddressInfo).port
  gatePorts['silent'] = (silent.address() as AddressInfo).port
  gatePorts['away'] = await freePort()
})
afterAll(async () => {
  application.close()
  application.closeAllConnections()
  silent.close()
  for (const gate of Object.values(gates)) await gate.stop()
})

interface Visit {
  readonly from?: string
  readonly headers?: readonly string[]
  readonly version?: string
  readonly path?: string
  /** The address of the connection, of this machine. */
  readonly over?: string
}

async function visit(proxy: FrontProxy, { from = clean, headers = [], ...rest }: Visit) {
  const { version = '1.1', path = '/login', over = '127.0.0.1' } = rest
  seen.length = 0
  degraded.length = 0
  heard = ''
  const named = [`${addressHeader}: ${from}`, ...headers]
  const lines = ['Host: localhost', 'Connection: close', ...named, 'Content-Length: 9']
  const head = `POST ${path} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\nemail=ada`
  const answer = (await converse(proxy.port, [head], { from: over, silentMs: 30_000 })).text
  const end = answer.indexOf('\r\n\r\n')
  return {
    status: Number(answer.split(' ')[1]),
    head: answer.slice(0, end).toLowerCase(),
    body: Buffer.from(answer.slice(end + 4), 'latin1').toString(),
    seen: seen.join(),
    degraded: degraded.join(),
  }
}

const cookies = Array.from({ length: 4 }, (_, i) => `Cookie: ${i}=${'c'.repeat(2000)}`)
const longQuery = { path: `/login?next=${'n'.repeat(6000)}` }

const versions: Readonly<Record<GateProxy, string>> = {
  nginx: '-v',
  caddy: 'version',
  haproxy: '-v',
}

describe.each(gateProxies)('%s', (name) => {
  describeWith(name, [versions[name]], () => {
    const proxies: FrontProxy[] = []
    let proxy: FrontProxy
    const before = async (gate: string, isShipped = false): Promise<FrontProxy> => {
      const one = await startGateProxy(name, {
        gatePort: gatePorts[gate]!,
        applicationPort,
        isShipped,
      })
      proxies.push(one)
      return one
    }
    beforeAll(async () => {
      proxy = await before('passing')
    })
    afterAll(() => {
      for (const one of proxies) one.stop()
    })

    it('lets in, with the action in place of what the visitor sent', async () => {
      const headers = ['X-Iprisk-Action: forged', 'X-Iprisk-Degraded: forged']
      const passed = { status: 200, degraded: '' }
      expect(await visit(proxy, { headers })).toMatchObject({ ...passed, seen: 'allow' })
      const answer = await visit(proxy, { from: doubted, headers })
      expect(answer).toMatchObject({ ...passed, seen: 'challenge' })
    })

    it.each([
      '/%6Cogin',
      '//login',
      '/login;x',
      '/LOGIN',
      '/./login',
      '/login%2F',
      '/login/x',
      '/x/../login',
    ])('judges the login spelled %s', async (path) => {
      expect(await visit(proxy, { from: stopped, path })).toMatchObject({ status: 403, seen: '' })
    })

    it('hands on facts of the gate’s alone', async () => {
      const names = ['Rule', 'Classification', 'Score', 'Country', 'Asn', 'Degraded']
      const headers = ['X-Iprisk-', 'X_Iprisk_'].flatMap((start) =>
        names.map((name) => `${start}${name}: forged`),
      )
      await visit(proxy, { from: doubted, headers })
      expect(facts.join()).not.toContain('forged')
      expect(facts).toContain('x-iprisk-rule: hosting')
      expect(facts.some((fact) => /^x-iprisk-score: \d+$/.test(fact))).toBe(true)
      await visit(await before('away', true), { headers })
      expect(facts.join()).not.toContain('forged')
    })

    it('shows a stopped visitor the page, in their language', async () => {
      const headers = ['Accept: text/html', 'Accept-Language: fr']
      const answer = await visit(proxy, { from: stopped, headers })
      expect(answer).toMatchObject({ status: 403, seen: '' })
      expect(answer.body).toContain('Accès impossible')
      expect(answer.head).toContain("content-security-policy: default-src 'none'")
    })

    it('stops a challenged visitor where the gate answers 401', async () => {
      const strict = await before('stopping')
      const headers = ['Accept: text/html', 'Accept-Language: de']
      const answer = await visit(strict, { from: doubted, headers })
      expect(answer).toMatchObject({ status: 401, seen: '' })
      expect(answer.body).toContain('Noch ein Schritt')
    })

    it.each(['X-Forwarded-For', 'X-Real-IP', 'CF-Connecting-IP', 'Forwarded'])(
      'does not believe a visitor’s own %s',
      async (header) => {
        const naming = (address: string): readonly string[] => [
          `${header}: ${header === 'Forwarded' ? `for=${address}` : address}`,
        ]
        const lying = await visit(proxy, { from: stopped, headers: naming(clean) })
        expect(lying).toMatchObject({ status: 403, seen: '' })
        const slandered = await visit(proxy, { headers: naming(stopped) })
        expect(slandered).toMatchObject({ status: 200, seen: 'allow' })
      },
    )

    it.each(['127.0.0.5', '::1'])('asks for a visitor at %s, with few headers', async (over) => {
      const headers = ['X-Forwarded-For: 9.5.5.5', 'Forwarded: for=9.5.5.5', 'Cookie: a=b']
      await visit(await before('silent', true), { over, headers })
      const [request = '', ...lines] = heard.split('\r\n\r\n')[0]!.split('\r\n')
      expect(request).toBe('GET /gate/login HTTP/1.1')
      expect(lines).toContain(`X-Forwarded-For: ${over}`)
      expect(lines.join()).not.toContain('9.5.5.5')
      expect(lines.join()).not.toContain('a=b')
    })

    it('works by the lines of docs/gate.md', async () => {
      const behind = { gatePort: gatePorts['passing']!, applicationPort }
      const one = await startGateProxy(name, behind, blockOf(name))
      proxies.push(one)
      expect(
        await visit(one, { from: doubted, headers: ['X-Iprisk-Action: forged'] }),
      ).toMatchObject({ status: 200, seen: 'challenge' })
      expect(await visit(one, { from: stopped, headers: cookies })).toMatchObject({
        status: 403,
        seen: '',
      })
      expect(await visit(one, longQuery)).toMatchObject({ status: 200, seen: 'allow' })
    })

    it('judges a visitor of IPv6', async () => {
      expect(await visit(proxy, { from: stopped6 })).toMatchObject({ status: 403, seen: '' })
    })

    // HAProxy refuses more than 101 headers itself (tune.http.maxhdr).
    const many = Array.from({ length: name === 'haproxy' ? 90 : 120 }, (_, i) => `X-Other-${i}: v`)
    it.each<readonly [string, Visit]>([
      ['8 KiB of cookies', { headers: cookies }],
      ['many headers', { headers: many }],
      ['HTTP/1.0', { version: '1.0' }],
      ['a long query', longQuery],
    ])('takes %s', async (_name, asked) => {
      expect(await visit(proxy, asked)).toMatchObject({ status: 200, seen: 'allow' })
      expect(await visit(proxy, { ...asked, from: stopped })).toMatchObject({ status: 403 })
    })

    it('hands no length to the gate that is hidden behind an empty header name', async () => {
      const smuggled = 'GET /gate/login HTTP/1.1\r\nHost: a\r\n\r\n'
      const headers = [': x', `Content-Length: ${smuggled.length}`]
      expect(await visit(proxy, { headers })).toMatchObject({ status: 400, seen: '' })
    })

    // Of the three only nginx keeps its connections (docs/gate.md).
    it('opens as many connections to the gate as the documents say', async () => {
      const opened = () => gates['passing']!.metric('iprisk_connections_opened_total')
      const before = await opened()
      for (let i = 0; i < 10; i += 1) await visit(proxy, {})
      expect((await opened()) - before < 10).toBe(name === 'nginx')
    })

    // The others get status and page in one answer.
    it.runIf(name === 'nginx').each([401, 403])(
      'stops with %i where the gate is gone before its page',
      async (status) => {
        const dying = createServer((request, response) => {
          if (request.url?.startsWith('/gate/page') === true) request.socket.destroy()
          else response.writeHead(status).end()
        })
        await once(dying.listen(0, '127.0.0.1'), 'listening')
        gatePorts['dying'] = (dying.address() as AddressInfo).port
        expect(await visit(await before('dying'), {})).toMatchObject({ status, seen: '' })
        dying.close()
        dying.closeAllConnections()
      },
    )

    it('lets in where the gate has no table, is away or never answers', async () => {
      const noTable = await visit(await before('empty'), { from: stopped })
      expect(noTable).toMatchObject({ status: 200, seen: 'allow', degraded: 'no_table' })
      for (const gate of ['away', 'silent']) {
        const one = await before(gate, true)
        const letIn = { status: 200, seen: '', degraded: 'gate_away' }
        expect(await visit(one, { from: stopped })).toMatchObject(letIn)
      }
    })
  })
})
