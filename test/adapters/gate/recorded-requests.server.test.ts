// What Traefik and Envoy send to the gate, by their references; neither is run here. And that their
// files in deploy/gate/ and lines in docs/gate.md are YAML, and say that they were not run.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot } from '../../../src/base/package-root.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
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
  const [traefikLines, envoyLines] = blocks as unknown as readonly [unknown, EnvoyFilter]
  const shipped = (name: string): unknown =>
    parse(readFileSync(join(packageRoot, 'deploy/gate', name), 'utf8'))
  expect(isPart(traefikLines, shipped('traefik.yaml'))).toBe(true)
  // The file hands on all facts, the lines one.
  const facts = envoyLines.typed_config.http_service.authorization_response
  expect(facts).toEqual({ allowed_upstream_headers: { patterns: [{ exact: 'x-iprisk-action' }] } })
  facts.allowed_upstream_headers.patterns = [{ prefix: 'x-iprisk-' }]
  const filters = filtersIn(shipped('envoy.yaml'))
  expect(filters.map(({ name }) => name).slice(-2)).toEqual([
    envoyLines.name,
    'envoy.filters.http.router',
  ])
  expect(isPart(envoyLines, filters.at(-2))).toBe(true)
})

interface EnvoyFilter {
  readonly name: string
  readonly typed_config: {
    readonly http_service: {
      readonly authorization_response: { readonly allowed_upstream_headers: { patterns: unknown } }
    }
  }
}

function filtersIn(file: unknown): readonly EnvoyFilter[] {
  const filters: EnvoyFilter[] = []
  JSON.stringify(file, (name, value: unknown) => {
    if (name === 'http_filters') filters.push(...(value as readonly EnvoyFilter[]))
    return value
  })
  return filters
}

/** Whether every value in `part` stands in the same place of `whole`, in lists anywhere. */
function isPart(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((one) => whole.some((other) => isPart(one, other)))
  }
  if (typeof part !== 'object' || part === null) return part === whole
  return (
    typeof whole === 'object' &&
    whole !== null &&
    Object.entries(part).every(([name, value]) => isPart(value, Reflect.get(whole, name)))
  )
}
