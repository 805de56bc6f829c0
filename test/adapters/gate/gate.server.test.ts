// The gate of a real server on raw sockets: whose address counts, what each decision becomes, and
// that whatever fails lets the visitor in.

import { createServer } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkServer } from '../../../src/cli/doctor/check-server.ts'
import { askStatus } from '../../../src/cli/server/ask-admin.ts'
import { readSettings } from '../../../src/config/settings.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { eventually } from '../../eventually.ts'
import { type Heard, type Response, converse, responsesIn } from '../../http/raw-socket.ts'
import { type Server, newState, runServe, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const table = writeSmallTable()

const policies = {
  policies: {
    default: {
      rules: [{ name: 'tor-users', condition: 'signals.tor', action: 'block' }],
      otherwise: 'allow',
    },
    login: {
      rules: [
        { name: 'tor-users', condition: 'signals.tor', action: 'challenge' },
        { name: 'hosting', condition: "classification == 'hosting'", action: 'slow' },
      ],
      otherwise: 'allow',
    },
  },
}

const tor = '9.1.2.3'
const clean = '9.5.5.5'

interface Asked {
  readonly path?: string
  readonly method?: string
  readonly headers?: readonly string[]
  readonly version?: string
}

const forwarded = (address: string): string => `X-Forwarded-For: ${address}`

function requestText({ path = '/gate', method = 'GET', headers = [], version = '1.1' }: Asked) {
  return `${method} ${path} HTTP/${version}\r\nHost: gate\r\n${headers.map((one) => `${one}\r\n`).join('')}\r\n`
}

interface Gate {
  readonly server: Server
  readonly port: number
}

async function startGate(
  args: readonly string[] = [],
  options: Partial<Parameters<typeof startServer>[0]> = {},
): Promise<Gate> {
  const port = await freePort()
  const server = await startServer({
    table,
    workers: 2,
    ...options,
    args: ['--gate', `127.0.0.1:${port}`, ...args],
  })
  return { server, port }
}

const hear = ({ port }: Gate, asked: Asked): Promise<Heard> =>
  converse(port, [
    requestText({ ...asked, headers: ['Connection: close', ...(asked.headers ?? [])] }),
  ])

async function ask(gate: Gate, asked: Asked): Promise<Response> {
  return responsesIn((await hear(gate, asked)).text)[0]!
}

const running: Gate[] = []
let gate: Gate
let strict: Gate
let bare: Gate
let trail = ''

beforeAll(async () => {
  const folder = newState()
  const file = join(folder, 'policies.json')
  trail = join(folder, 'trail.jsonl')
  writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
  gate = await startGate(['--policies', file, '--decision-log', trail, '--log-addresses'])
  strict = await startGate([
    '--policies',
    file,
    '--gate-challenge=401',
    '--gate-header=x-real-ip',
    '--gate-trust=private',
  ])
  bare = await startGate([], { table: '/nonexistent/table.iprisk' })
  running.push(gate, strict, bare)
})

afterAll(async () => {
  for (const { server } of running) await server.stop()
})

describe('a decision', () => {
  it('lets in with 204, the facts in headers and no body', async () => {
    const { text } = await converse(gate.port, [kept()])
    const [answer] = responsesIn(text)
    expect(answer?.status).toBe(204)
    expect(answer?.headers).toMatchObject({
      'x-iprisk-action': 'allow',
      'x-iprisk-rule': '',
      'x-iprisk-country': 'DE',
      'x-iprisk-asn': '64496',
      'cache-control': 'no-store',
    })
    expect(answer?.headers['x-iprisk-score']).toMatch(/^\d+$/)
    expect(answer?.headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/)
    expect(answer?.headers).not.toHaveProperty('x-iprisk-degraded')
    expect(answer?.headers).not.toHaveProperty('content-length')
    expect(answer?.headers).not.toHaveProperty('content-type')
    expect(text.endsWith('\r\n\r\n')).toBe(true)
  })

  it('blocks with 403, a request id and no reason', async () => {
    const answer = await ask(gate, { headers: [forwarded(tor), 'X-Request-Id: mine'] })
    expect(answer.status).toBe(403)
    expect(answer.headers).toMatchObject({
      'x-iprisk-action': 'block',
      'x-iprisk-rule': 'tor-users',
      'x-iprisk-classification': 'tor',
      'x-request-id': 'mine',
      'content-type': 'application/problem+json',
    })
    const problem = { type: 'about:blank', title: 'Forbidden', status: 403, request_id: 'mine' }
    expect(JSON.parse(answer.body)).toEqual(problem)
  })

  it.each(['/gate/login', '/gate/login/', '/gate/login/wp-login.php?a=b'])(
    'is that of the policy in %s, and a challenge passes',
    async (path) => {
      const answer = await ask(gate, { path, headers: [forwarded(tor)] })
      expect(answer.status).toBe(204)
      expect(answer.headers['x-iprisk-action']).toBe('challenge')
    },
  )

  it('challenges with 401 where that is asked for, and lets other actions pass', async () => {
    const path = '/gate/login'
    const challenged = await ask(strict, { path, headers: [`X-Real-IP: ${tor}`] })
    expect(challenged.status).toBe(401)
    expect(challenged.headers['x-iprisk-action']).toBe('challenge')
    const other = await ask(strict, { path, headers: ['X-Real-IP: 11.1.1.1'] })
    expect(other.status).toBe(204)
  })

  it('is that of default where the policy is unknown, and says so', async () => {
    const answer = await ask(gate, { path: '/gate/nosuch/x', headers: [forwarded(tor)] })
    expect(answer.status).toBe(403)
    expect(answer.headers['x-iprisk-degraded']).toBe('unknown_policy')
    expect(
      await gate.server.metric('iprisk_gate_degraded_total', 'unknown_policy'),
    ).toBeGreaterThan(0)
  })

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'comes for the method %s',
    async (method) => {
      const answer = await ask(gate, { method, headers: [forwarded(clean)] })
      expect(answer.status).toBe(204)
    },
  )

  it('ignores a body, whether its length is stated or not', async () => {
    const stated = `${requestText({ method: 'POST', headers: [forwarded(clean), 'Content-Length: 5'] })}hello`
    const chunked = `${requestText({ method: 'PUT', headers: [forwarded(clean), 'Transfer-Encoding: chunked'] })}5\r\nhello\r\n0\r\n\r\n`
    const unsent = requestText({
      method: 'POST',
      headers: [forwarded(clean), 'Content-Length: 50'],
    })
    for (const text of [stated, chunked, unsent]) {
      const heard = await converse(gate.port, [text])
      expect(responsesIn(heard.text).map(({ status }) => status)).toEqual([204])
      expect(heard.closed).toBe(true)
    }
  })

  it('without a table lets in, and is counted', async () => {
    const answer = await ask(bare, { headers: [forwarded(tor)] })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'x-iprisk-action': 'allow',
      'x-iprisk-degraded': 'no_table',
    })
    expect(await bare.server.metric('iprisk_gate_degraded_total', 'no_table')).toBe(1)
  })

  it('is 404 for a path that is not the gate', async () => {
    for (const path of ['/', '/gates', '/v1/intelligence/ip-risk/check'])
      expect((await ask(gate, { path, headers: [forwarded(clean)] })).status).toBe(404)
  })
})

describe('a page', () => {
  const html = ['Accept: text/html,*/*;q=0.8', 'Accept-Language: de-AT,en;q=0.5']

  it('is the body of a 403 and of a 401 for a browser, in its language', async () => {
    const blocked = await ask(gate, {
      headers: [...html, forwarded(tor), 'X-Request-Id: quoted-7'],
    })
    expect(blocked.status).toBe(403)
    expect(blocked.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(blocked.headers['content-security-policy']).toContain("default-src 'none'")
    expect(blocked.body).toContain('Kein Zugriff')
    expect(blocked.body).toContain('quoted-7')
    expect(blocked.body).not.toMatch(/tor-users|9\.1\.2\.3/)
    const path = '/gate/login'
    const challenged = await ask(strict, { path, headers: [...html, `X-Real-IP: ${tor}`] })
    expect(challenged.status).toBe(401)
    expect(challenged.body).toContain('Noch ein Schritt')
  })

  it.each(['blocked', 'challenge'])('is at /gate/page/%s, without an address', async (kind) => {
    const page = await ask(gate, { path: `/gate/page/${kind}` })
    expect(page.status).toBe(200)
    expect(page.body).toContain('<html lang="en">')
    expect(page.headers).not.toHaveProperty('x-iprisk-degraded')
  })
})

describe('the address of the visitor', () => {
  it.each([
    ['X-Real-IP', tor],
    ['CF-Connecting-IP', tor],
    ['True-Client-IP', tor],
    ['Forwarded', `for=${tor}`],
  ])('is not taken from %s', async (name, value) => {
    const answer = await ask(gate, { headers: [`${name}: ${value}`, forwarded(clean)] })
    expect(answer.status).toBe(204)
  })

  it('is what the peer wrote last, whatever the visitor wrote before', async () => {
    const spoofed = await ask(gate, { headers: [forwarded(`${clean}, ${tor}`)] })
    expect(spoofed.status).toBe(403)
    const lines = await ask(gate, { headers: [forwarded(clean), forwarded(tor)] })
    expect(lines.status).toBe(403)
  })

  const mapped = ['::ffff:9.1.2.3', '0:0:0:0:0:ffff:901:203']
  it.each(['2a01:4f8::1', '[2a01:4f8::1]:443', ...mapped, `${tor}:5555`, `${clean} ,${tor}`])(
    'may be %s',
    async (text) => {
      const answer = await ask(gate, { headers: [forwarded(text)] })
      expect(answer.headers).not.toHaveProperty('x-iprisk-degraded')
      expect(answer.status).toBe(403)
    },
  )

  it.each([
    ['address_missing', []],
    ['address_missing', ['X-Forwarded-For: ']],
    ['address_unreadable', [forwarded('unknown')]],
    ['address_unreadable', [forwarded(`${clean}, _hidden`)]],
    ['address_unreadable', [forwarded('9.1.2.3.4')]],
  ])('lets in where it is not known: %s %j', async (code, headers) => {
    const answer = await ask(gate, { headers })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({ 'x-iprisk-action': 'allow', 'x-iprisk-degraded': code })
  })

  it('is read past the trusted proxies', async () => {
    const port = await freePort()
    const twice = await startServer({
      table,
      args: ['--gate', `127.0.0.1:${port}`, '--gate-trust', '10.0.0.0/8,192.0.2.7'],
    })
    const through = { headers: [forwarded(`11.1.1.1, ${tor}, 192.0.2.7, 10.1.1.1`)] }
    const answer = await ask({ server: twice, port }, through)
    expect(answer.headers['x-iprisk-classification']).toBe('tor')
    await twice.stop()
  })
})

describe('the connection', () => {
  it('is kept where the end of the request is stated, and closed otherwise', async () => {
    const twice = await converse(gate.port, [kept(), kept()])
    expect(responsesIn(twice.text).map(({ status }) => status)).toEqual([204, 204])
    expect(twice.closed).toBe(false)
    const open = await converse(gate.port, [requestText({ headers: [forwarded(clean)] }), kept()])
    expect(responsesIn(open.text)).toHaveLength(1)
    expect(open.closed).toBe(true)
  })

  it('gives no second answer to a request that hides behind an empty name', async () => {
    const hidden = requestText({ headers: [forwarded(clean), ': x', 'Content-Length: 200'] })
    const heard = await converse(gate.port, [hidden + kept()])
    expect(responsesIn(heard.text).length).toBeLessThan(2)
    expect(heard.closed).toBe(true)
  })

  it('takes 90 headers; more, 8 KiB of cookies and HTTP/1.0 are refused before any handler', async () => {
    const many = Array.from({ length: 120 }, (_, i) => `X-Other-${i}: v`)
    const fewer = [forwarded(clean), ...many.slice(0, 90)]
    expect((await ask(gate, { headers: fewer })).status).toBe(204)
    const refused = [
      { headers: [forwarded(clean), ...many], status: 431 },
      { headers: [forwarded(clean), `Cookie: ${'c'.repeat(8192)}`], status: 431 },
      { headers: [forwarded(clean)], version: '1.0', status: 505 },
    ]
    for (const { status, ...asked } of refused)
      expect((await hear(gate, asked)).text).toContain(`HTTP/1.1 ${status}`)
  })

  it('is closed at accept for a peer that is not named, and counted', async () => {
    const port = await freePort()
    const server = await startServer({
      table,
      args: ['--gate', `127.0.0.1:${port}`, '--gate-peers', '192.0.2.0/24'],
    })
    const heard = await converse(port, [kept()])
    expect(heard).toEqual({ text: '', closed: true })
    expect(await server.metric('iprisk_gate_refused_connections_total')).toBe(1)
    expect(server.stderr()).toContain('--gate-peers')
    await server.stop()
  })
})

describe('the server', () => {
  it('counts the gate apart from the API, and names it in the decision log', async () => {
    await ask(gate, { headers: [forwarded(tor), 'X-Request-Id: logged'] })
    expect(await gate.server.metric('iprisk_requests_total')).toBe(0)
    expect(await gate.server.metric('iprisk_gate_requests_total', '"403"')).toBeGreaterThan(0)
    const line = await eventually(() =>
      readFileSync(trail, 'utf8')
        .split('\n')
        .find((one) => one.includes('"logged"')),
    )
    expect(JSON.parse(line)).toMatchObject({ source: 'gate', address: tor, action: 'block' })
    expect(JSON.parse(line)).not.toHaveProperty('key_id')
  })

  it.each([
    ['0.0.0.0:1', 'gatePeers'],
    ['nonsense', 'a port from 1 to 65535'],
  ])('does not start with --gate %s', async (place, says) => {
    const { child, stderr } = runServe(['--gate', place, '--port', '0', '--admin-port', '0'])
    await eventually(() => child.exitCode !== null || undefined)
    expect(child.exitCode).toBe(2)
    expect(stderr()).toContain(says)
  })

  it('does not start where the port of the gate is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => holder.once('listening', resolve))
    const { port } = holder.address() as { port: number }
    const args = ['--gate', `127.0.0.1:${port}`, '--port', '0', '--admin-port', '0']
    const { child, stderr } = runServe([...args, '--table', table, '--state', newState()])
    await eventually(() => child.exitCode !== null || undefined)
    holder.close()
    expect(stderr()).toContain('--gate')
  })

  it('is reported by doctor where no visitor has a public address', async () => {
    const own = await startGate()
    const { server } = own
    const visits = async (count: number, headers: readonly string[]): Promise<void> => {
      for (let i = 0; i < count; i += 1) await hear(own, { headers })
    }
    const found = async (): Promise<string | undefined> => {
      const flags = { port: server.port, adminPort: server.adminPort }
      const settings = readSettings({ command: 'doctor', flags, environment: {}, cwd: newState() })
      const findings = await checkServer(settings, await askStatus(settings.serve))
      return findings.find(({ code }) => code === 'gate_address')?.text
    }
    try {
      await visits(19, [forwarded('10.0.0.7')])
      expect(await found()).toBeUndefined()
      await visits(1, [])
      expect(await eventually(found)).toContain('20 of 20 visitors at the gate')
      expect(await server.metric('iprisk_gate_private_visitors_total')).toBe(19)
      await visits(5, [forwarded(clean)])
      await eventually(async () => (await found()) === undefined)
    } finally {
      await server.stop()
    }
  })

  it('closes both ports when it drains', async () => {
    const own = await startGate()
    expect((await ask(own, { headers: [forwarded(clean)] })).status).toBe(204)
    expect(await own.server.stop()).toBe(0)
    const heard = await converse(own.port, [kept()])
    expect(heard.text).toBe('')
  })
})

function kept(): string {
  return requestText({ headers: [forwarded(clean), 'Content-Length: 0'] })
}
