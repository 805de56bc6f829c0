// What a server lays open, and to whom: the admin port on loopback, on a socket, and beyond with a
// token; TLS by files; logs without addresses, or shortened, or keyed. And `iprisk info`, which
// goes in by the same doors.

import { once } from 'node:events'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { type TLSSocket, connect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { askAdmin } from '../../src/cli/server/ask-admin.ts'
import { readSettings } from '../../src/config/settings.ts'
import { type Certificate, makeCertificate } from '../account/stores/redis/redis-servers.ts'
import { runProgram } from '../cli/program.ts'
import { writeSmallTable } from '../table/small-table.ts'
import {
  type Server,
  makeKey,
  newState,
  runServe,
  startServer,
  workersOf,
} from '../serve/server.ts'
import { eventually } from '../eventually.ts'

const table = writeSmallTable()
const running: { readonly stop: () => Promise<unknown> }[] = []
const token = 'canary-token-0123456789abcdef'

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

async function start(options: Omit<Parameters<typeof startServer>[0], 'table'>): Promise<Server> {
  const server = await startServer({ table, ...options })
  running.push({ stop: () => server.stop('SIGKILL') })
  return server
}

function file(name: string, text: string): string {
  const path = join(newState(), name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

describe('the admin port', () => {
  it('beyond loopback wants its token for what it tells, and none for health', async () => {
    const args = ['--admin-host', '0.0.0.0', '--admin-token-file', file('token', `${token}\n`)]
    const server = await start({ args })
    const ask = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`http://127.0.0.1:${server.adminPort}${path}`, { headers })).status
    const right = { authorization: `Bearer ${token}` }
    for (const path of ['/metrics', '/status']) {
      expect([path, await ask(path)]).toEqual([path, 401])
      expect(await ask(path, right)).toBe(200)
      expect(await ask(path, { authorization: `bearer  ${token}` })).toBe(200)
      for (const wrong of ['', 'Bearer', 'Bearer ', `Basic ${token}`, `Bearer ${token}x`, token]) {
        expect([wrong, await ask(path, { authorization: wrong })]).toEqual([wrong, 401])
      }
      // A page in a browser that reaches this address may read nothing.
      expect(await ask(path, { ...right, origin: 'http://evil.example' })).toBe(403)
    }
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 200])
    const info = ['info', '--json', '--admin-port', String(server.adminPort), ...args]
    const told = await runProgram(info, { cwd: newState() })
    expect(told.code).toBe(0)
    expect(told.out + told.err + server.stderr()).not.toContain(token)
    const without = await runProgram(info.slice(0, 4), { cwd: newState() })
    expect([without.code, without.err]).toEqual([1, expect.stringContaining('--admin-token-file')])
  })

  it('is refused beyond loopback without a token', async () => {
    const wide = ['--port', '0', '--admin-port', '0', '--admin-host', '0.0.0.0', '--table', table]
    const refused = runServe(wide)
    const [code] = (await once(refused.child, 'exit')) as [number]
    expect([code, refused.stderr()]).toEqual([2, expect.stringContaining('serve.adminTokenFile')])
  })

  it('may be a Unix socket, for its own user alone, taken over from a dead server only', async () => {
    const path = join(newState(), 'admin.sock')
    const args = ['--port', '0', '--admin-socket', path, '--workers', '1', '--table', table]
    const first = runServe([...args, '--state', newState()])
    running.push({ stop: async () => first.child.kill('SIGKILL') })
    await eventually(() => first.stderr().includes(`health on ${path}`))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { serve } = readSettings({
      command: 'info',
      flags: { adminSocket: path },
      environment: {},
      cwd: newState(),
    })
    const answer = await askAdmin(serve, '/readyz')
    expect(answer?.status).toBe(200)
    expect(JSON.parse(answer?.text ?? '')).toMatchObject({ status: 'ready' })
    const told = await runProgram(['info', '--admin-socket', path], { cwd: newState() })
    expect([told.code, told.out]).toEqual([0, expect.stringMatching(/^state +ready$/m)])
    const second = runServe([...args, '--state', newState()])
    const [code] = (await once(second.child, 'exit')) as [number]
    expect([code, second.stderr()]).toEqual([
      1,
      expect.stringMatching(/Stop the server that uses it, .*--admin-socket/),
    ])
    const nowhere = runServe([
      ...args.with(args.indexOf(path), join(newState(), 'none/admin.sock')),
      '--state',
      newState(),
    ])
    expect((await once(nowhere.child, 'exit'))[0]).toBe(1)
    expect(nowhere.stderr()).toMatch(/there is no folder \S+\/none\. Create it, or name another/)
    expect(nowhere.stderr()).not.toContain('EACCES')
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const third = runServe([...args, '--state', newState()])
    running.push({ stop: async () => third.child.kill('SIGKILL') })
    await eventually(() => third.stderr().includes(`health on ${path}`))
  })
})

describe('TLS', () => {
  const flags = ({ certFile, keyFile }: Certificate): string[] => [
    '--tls-cert-file',
    certFile,
    '--tls-key-file',
    keyFile,
  ]

  /** The protocol that a handshake ends with; the message of what fails instead. */
  async function handshake(server: Server, options: object): Promise<string> {
    const socket: TLSSocket = connect({ port: server.port, host: '127.0.0.1', ...options })
    try {
      await once(socket, 'secureConnect')
      const protocol = socket.getProtocol() ?? ''
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(socket, 'data')
      return protocol
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error)
    } finally {
      socket.destroy()
    }
  }

  it('is spoken by configuration, and then nothing else', async () => {
    const certificate = makeCertificate(newState())
    const server = await start({ args: flags(certificate) })
    expect(server.stderr()).toContain(`serves https://127.0.0.1:${server.port}`)
    const ca = readFileSync(certificate.caFile)
    const key = await makeKey(server.state)
    const status = await eventually(async () => {
      const answered = await checkOverTls(server.port, key, ca)
      return answered === 200 ? answered : undefined
    })
    expect(status).toBe(200)
    expect(await handshake(server, { ca })).toBe('TLSv1.3')
    expect(await handshake(server, { ca, maxVersion: 'TLSv1.2' })).toBe('TLSv1.2')
    expect(await handshake(server, { ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).toContain(
      'ERR_',
    )
    expect(await handshake(server, {})).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    await expect(fetch(`http://127.0.0.1:${server.port}/openapi.json`)).rejects.toThrow(
      'fetch failed',
    )
    const told = JSON.parse((await server.admin('/status')).text) as { listens: object }
    expect(told.listens).toEqual({ host: '127.0.0.1', port: server.port, tls: true })
    expect(server.stderr()).not.toContain('PRIVATE KEY')
  })

  it('takes new files with a restart, and none that are broken', async () => {
    const certificate = makeCertificate(newState())
    const server = await start({ args: flags(certificate) })
    const restart = async (): Promise<{ readonly code: number | null; readonly text: string }> => {
      const at = ['--port', String(server.port), '--state', server.state]
      const { code, out, err } = await runProgram(['restart', ...at], { cwd: newState() })
      return { code, text: out + err }
    }
    const old = { ca: readFileSync(certificate.certFile) }
    const first = workersOf(server)
    const renewed = makeCertificate(newState())
    const ca = readFileSync(renewed.certFile)
    renameSync(renewed.certFile, certificate.certFile)
    renameSync(renewed.keyFile, certificate.keyFile)
    expect(await handshake(server, old)).toBe('TLSv1.3')
    expect(await restart()).toEqual({ code: 0, text: 'Every worker was replaced; 1 answer.\n' })
    expect(await handshake(server, { ca })).toBe('TLSv1.3')
    expect(await handshake(server, old)).not.toContain('TLS')
    const second = workersOf(server)
    expect(second.filter((pid) => first.includes(pid))).toEqual([])
    const broken: readonly (readonly [text: Buffer | string, reason: string])[] = [
      ['secret-text', 'cert.pem: it contains no certificate in PEM'],
      [old.ca, 'key.pem: its key does not match the certificate'],
    ]
    for (const [text, reason] of broken) {
      writeFileSync(certificate.certFile, text)
      expect(await restart()).toEqual({ code: 1, text: expect.stringContaining(reason) })
      expect(await handshake(server, { ca })).toBe('TLSv1.3')
      expect(workersOf(server)).toEqual(second)
    }
    expect(server.stderr()).not.toContain('secret-text')
  })

  it('may be 1.3 alone', async () => {
    const certificate = makeCertificate(newState())
    const ca = readFileSync(certificate.caFile)
    const server = await start({ args: [...flags(certificate), '--tls-min-version', '1.3'] })
    expect(await handshake(server, { ca })).toBe('TLSv1.3')
    expect(await handshake(server, { ca, maxVersion: 'TLSv1.2' })).toContain('ERR_SSL')
  })

  it('with a file that cannot be used ends the start with a sentence that names it', async () => {
    const certificate = makeCertificate(newState())
    writeFileSync(certificate.keyFile, 'canary-not-a-key')
    const ports = ['--port', '0', '--admin-port', '0', '--table', table]
    const failed = runServe([...ports, ...flags(certificate)])
    const [code] = (await once(failed.child, 'exit')) as [number]
    expect(code).toBe(1)
    expect(failed.stderr()).toMatch(
      /^iprisk: Cannot serve TLS with \/\S+key.pem: .*no private key/m,
    )
    expect(failed.stderr()).not.toContain('canary')
  })
})

function checkOverTls(port: number, key: string, ca: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({
      port,
      host: '127.0.0.1',
      ca,
      agent: false,
      method: 'POST',
      path: '/v1/intelligence/ip-risk/check',
      headers: { authorization: `Bearer ${key}` },
    })
    asked.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end('{"ip":"9.1.2.3"}')
  })
}

describe('the log', () => {
  async function logged(...args: string[]): Promise<string> {
    const server = await start({ args: ['--log-level', 'debug', ...args] })
    const key = await makeKey(server.state)
    const ask = async (ip: string): Promise<number> => {
      const url = `http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`
      const headers = { authorization: `Bearer ${key}`, connection: 'close' }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ ip }) })
      await response.arrayBuffer()
      return response.status
    }
    await eventually(async () => (await ask('9.77.0.77')) === 200)
    for (const ip of ['9.77.0.78', '2a01:4f8::abcd', '9.77.0.78', 'spy.9.77.0.79']) await ask(ip)
    await server.stop()
    expect(server.stderr()).not.toContain(key)
    return server.stderr()
  }
  const any = /9\.77\.0\.7|4f8::abcd|127\.0\.0\.1"|spy/

  it('has no address, even of every single request', async () => {
    const text = await logged()
    expect(text.match(/A request was answered/g)?.length).toBeGreaterThanOrEqual(5)
    expect(text).not.toMatch(any)
  })

  it('has the same hash for the same address where they are wanted keyed', async () => {
    const secret = 'canary-log-key-0123456789'
    const form = ['--log-addresses', '--log-address-form', 'keyed', '--log-address-key-file']
    const text = await logged(...form, file('key', secret))
    expect(text).not.toMatch(any)
    const lines = text.split('\n').filter((line) => line.includes('was answered'))
    const hashes = lines.map((line) => /"address":"(hmac:[\w-]{16})"/.exec(line)?.[1])
    expect(hashes.at(-4)).toBeDefined()
    expect(hashes.at(-4)).toBe(hashes.at(-2))
    expect(hashes.at(-4)).not.toBe(hashes.at(-3))
  })
})
