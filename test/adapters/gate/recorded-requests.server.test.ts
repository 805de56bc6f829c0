// What Traefik and Envoy send to the gate, by their references; neither is run here. And that their
// files in deploy/gate/ and lines in docs/gate.md are YAML, and say that they were not run.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot } from '../../../src/base/package-root.ts'
import { freePort } from '../../account/stores/redis/redis-servers.ts'
import { converse, responsesIn } from '../../http/raw-socket.ts'
import { type Server, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const rules = [{ name: 'tor', condition: 'signals.tor', action: 'block' }]
const policies = {
  policies: { default: { rules: [], otherwise: 'allow' }, login: { rules, otherwise: 'allow' } },
}

/** Traefik: a GET at `address`, the properties of the request in X-Forwarded-, and authRequestHeaders. */
const traefik = (address: string): string =>
  [
    'GET /gate/login HTTP/1.1',
    'Host: 127.0.0.1:9191',
    'User-Agent: Go-http-client/1.1',
    'Accept: text/html',
    `X-Forwarded-For: ${address}`,
    'X-Forwarded-Host: shop.example',
    'X-Forwarded-Method: POST',
    'X-Forwarded-Port: 443',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Server: traefik',
    'X-Forwarded-Uri: /login?next=%2F',
  ].join('\r\n')

/** Envoy: method and host of the request, its path behind path_prefix, and a length of 0. */
const envoy = (address: string): string =>
  [
    'POST /gate/login/login?next=%2F HTTP/1.1',
    'host: shop.example',
    'content-length: 0',
    'authorization: Basic YTpi',
    'accept: text/html',
    `x-forwarded-for: 198.51.100.1,${address}`,
    'x-envoy-internal: true',
    'x-envoy-expected-rq-timeout-ms: 200',
  ].join('\r\n')

let server: Server
let port = 0
beforeAll(async () => {
  const file = join(newState(), 'policies.json')
  writeFileSync(file, JSON.stringify(policies), { mode: 0o644 })
  port = await freePort()
  const args = ['--policies', file, '--gate', `127.0.0.1:${port}`]
  server = await startServer({ table: writeSmallTable(), args })
})
afterAll(() => server?.stop())

describe.each([
  ['Traefik', traefik, 'traefik.yaml'],
  ['Envoy', envoy, 'envoy.yaml'],
])('%s', (_name, request, file) => {
  it('gets 204 with the action, or 403 with a page', async () => {
    const [passed] = responsesIn((await converse(port, [`${request('9.5.5.5')}\r\n\r\n`])).text)
    expect(passed).toMatchObject({ status: 204, headers: { 'x-iprisk-action': 'allow' } })
    const [blocked] = responsesIn((await converse(port, [`${request('9.1.2.3')}\r\n\r\n`])).text)
    expect(blocked?.status).toBe(403)
    expect(blocked?.headers['content-type']).toContain('text/html')
  })

  it('has a file of YAML that says that it was not run', () => {
    const text = readFileSync(join(packageRoot, 'deploy/gate', file), 'utf8')
    expect(parse(text)).toBeTypeOf('object')
    expect(text).toContain('This was not run')
  })
})

it('keeps the connection of Envoy’s POST', async () => {
  const one = `${envoy('9.5.5.5')}\r\n\r\n`
  expect(responsesIn((await converse(port, [one, one])).text)).toHaveLength(2)
})

it('has lines of YAML for both in docs/gate.md, which are part of the files', () => {
  const text = readFileSync(join(packageRoot, 'docs/gate.md'), 'utf8')
  const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']) => parse(block))
  expect(blocks).toHaveLength(2)
  expect(text.match(/\*\*This was not run\.\*\*/g)).toHaveLength(2)
  const [traefikLines, envoyLines] = blocks as readonly Readonly<Record<string, unknown>>[]
  const shipped = (name: string): unknown =>
    parse(readFileSync(join(packageRoot, 'deploy/gate', name), 'utf8'))
  expect(shipped('traefik.yaml')).toMatchObject({
    http: {
      middlewares: {
        iprisk: {
          forwardAuth: {
            address: 'http://127.0.0.1:9191/gate/login',
            authRequestHeaders: ['Accept', 'Accept-Language'],
          },
        },
      },
    },
  })
  expect(traefikLines).toHaveProperty('http.middlewares.iprisk.forwardAuth.address')
  expect(JSON.stringify(shipped('envoy.yaml'))).toContain(String(envoyLines?.['name']))
})
