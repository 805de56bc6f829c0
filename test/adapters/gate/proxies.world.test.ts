// The gate behind real proxies as deploy/gate/ configures them: each situation for each of them.
// Visitors of all the world: a header of the test's stands in for the address of their connection.

import { mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryUrl } from '../../../src/agents/web-bot-auth.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { tableWithCrawler } from '../../agents/crawler-table.ts'
import { agentHost, newSigningKey, signed } from '../../agents/sign.ts'
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

const byAgent = {
  policies: {
    default: {
      rules: [
        ...rules,
        { name: 'spoofed', condition: "agent.status == 'spoofed'", action: 'block' },
        { name: 'verified', condition: "agent.status == 'verified'", action: 'welcome' },
      ],
      otherwise: 'allow',
    },
  },
}

const signingKey = newSigningKey()

/** A state folder that has fetched the key, and the settings that let it count. */
function knowingAgents(): readonly string[] {
  const state = newState()
  const url = directoryUrl(agentHost)
  const { keyid, x } = signingKey
  mkdirSync(join(state, 'agents'), { mode: 0o700 })
  const kept = JSON.stringify([[url, { url, keys: [{ keyid, x }] }]])
  writeFileSync(join(state, 'agents/keys.json'), kept, { mode: 0o600 })
  const config = join(state, 'iprisk.json')
  const agents = { authorities: ['localhost', 'other.example'], directories: [agentHost] }
  writeFileSync(config, JSON.stringify({ agents }))
  return ['--config', config, '--state', state]
}

/** Headers of a request to /login, signed now over its URL. */
function signedHeaders(authority: string): readonly string[] {
  const now = Math.floor(Date.now() / 1000)
  const parameters = { created: String(now), expires: String(now + 300) }
  const covers = [
    ['"@authority"', authority],
    ['"@method"', 'POST'],
    ['"@target-uri"', `http://${authority}/login?a=1`],
    ['"signature-agent";key="sig1"', `"https://${agentHost}"`],
  ] as const
  const { headers } = signed({ key: signingKey, authority, parameters, covers })
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
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

async function startGate(
  name: string,
  args: readonly string[],
  table = writeSmallTable(),
  by: object = policies,
) {
  const file = join(newState(), 'policies.json')
  writeFileSync(file, JSON.stringify(by), { mode: 0o644 })
  const port = await freePort()
  const own = ['--policies', file, '--gate', `127.0.0.1:${port}`]
  gates[name] = await startServer({ table, args: [...own, ...args] })
  gatePorts[name] = port
}

beforeAll(async () => {
  await startGate('passing', [])
  await startGate('stopping', ['--gate-challenge', '401'])
  await startGate('agents', knowingAgents(), tableWithCrawler(), byAgent)
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

    it('shows the page to a browser, whose headers have several values', async () => {
      const accept = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
      const headers = [accept, 'Accept-Language: fr-FR,fr;q=0.9,en;q=0.5']
      expect((await visit(proxy, { from: stopped, headers })).body).toContain('Accès impossible')
    })

    it('hands on who the visitor says it is', async () => {
      const one = await before('agents')
      const path = '/login?a=1'
      const googlebot = 'User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1)'
      const from = (ip: string, ...headers: readonly string[]) =>
        visit(one, { from: ip, path, headers })
      expect(await from(clean, 'User-Agent: Mozilla/5.0')).toMatchObject({ seen: 'allow' })
      expect(await from('9.50.0.1', googlebot)).toMatchObject({ status: 200, seen: 'welcome' })
      expect(await from(clean, googlebot)).toMatchObject({ status: 403, seen: '' })
      const mine = signedHeaders('localhost')
      expect(await from(clean, googlebot, ...mine)).toMatchObject({ status: 200, seen: 'welcome' })
      // A request to another host of the operator is not replayed here by a visitor's own header.
      const names = ['X-Forwarded-Host: other.example', 'X-Forwarded-Uri: /login?a=1']
      const replayed = [...names, ...signedHeaders('other.example')]
      expect(await from(clean, googlebot, ...replayed)).toMatchObject({ status: 403, seen: '' })
      // No length of what it says lets in whom the address stops.
      const long = 'x'.repeat(7000)
      for (const header of [googlebot, 'Signature: a', 'Signature-Input: a', 'Signature-Agent: a'])
        expect(await from(stopped, header + long)).toMatchObject({ status: 403, seen: '' })
      const all = [900, 300, 300].map((length, at) => {
        const name = ['User-Agent', 'Signature', 'Signature-Agent'][at]!
        return `${name}: ${'x'.repeat(length)}`
      })
      const input = `Signature-Input: ${'x'.repeat(900)}`
      expect(await from(stopped, ...all, input)).toMatchObject({ status: 403, seen: '' })
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
