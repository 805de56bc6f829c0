// Test keys on a real server, over the command that makes them: every path of an integration, the
// limits of test keys, and that real addresses are refused.

import { beforeAll, afterAll, describe, expect, it } from 'vitest'
import { holdsKey, redactKeys } from '../../../src/base/key-form.ts'
import { newFolder, runHere } from '../../cli/program.ts'
import { type Server, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { errorOf, faultOf, sendTo } from '../api-client.ts'

const path = '/v1/intelligence/ip-risk/check'
let server: Server
let key = ''
let made: Readonly<Record<string, unknown>> = {}

beforeAll(async () => {
  server = await startServer({ table: writeSmallTable() })
  const { out } = await runHere(
    ['keys', 'create', '--test', '--name', 'tests', '--state', server.state, '--json'],
    { cwd: newFolder() },
  )
  made = JSON.parse(out) as typeof made
  key = String(made['key'])
})
afterAll(async () => {
  await server.stop()
})

const send = (body: unknown, more: { readonly path?: string; readonly key?: string } = {}) =>
  sendTo({ port: server.port, path, key, body: JSON.stringify(body), ...more })
/** The rate is ten a second: a test that comes too soon waits. */
const ask = async (body: unknown, more: { readonly path?: string } = {}) => {
  for (;;) {
    const response = await send(body, more)
    const wait = response.status === 429 && !JSON.stringify(body).includes('.20')
    if (!wait || response.body.includes('quota')) return response
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('a test key', () => {
  it('is told from others by its text, and hidden like them', () => {
    expect(key).toMatch(/^irkt_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
    expect(made).toMatchObject({ plan: 'internal', apis: ['ip-risk'] })
    expect(holdsKey(key)).toBe(true)
    expect(redactKeys(`the key ${key}`)).not.toContain(key.slice(18))
  })

  it('has ten requests a second and no quota', async () => {
    const response = await ask({ ip: '198.18.0.1' })
    expect(response.status).toBe(200)
    expect(response.headers['ratelimit-policy']).toBe('"rate";q=20;w=2')
  })

  it('is answered by the last octet', async () => {
    const tor = JSON.parse((await ask({ ip: '198.18.0.6' })).body) as object
    expect(tor).toMatchObject({ classification: 'tor', ip: '198.18.0.6', table: 'test' })
    expect(tor).not.toHaveProperty('insights')
    expect(errorOf(await send({ ip: '198.18.0.20' }))).toBe('rate_limit_exceeded')
    const quota = await ask({ ip: '198.18.0.21' })
    expect(errorOf(quota)).toBe('api_quota_exceeded')
    expect(Number(quota.headers['retry-after'])).toBeGreaterThan(0)
    expect(errorOf(await ask({ ip: '198.18.0.22' }))).toBe('upstream_unavailable')
  })

  it('waits two seconds for number 23', async () => {
    await ask({ ip: '198.18.0.1' })
    const from = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ ip: '198.18.0.23' }),
    })
    expect(await response.json()).toMatchObject({ classification: 'clean' })
    expect(performance.now() - from).toBeGreaterThan(1990)
  })

  it('gets insights where it asks for them', async () => {
    const response = await ask({ ip: '198.18.0.5' }, { path: `${path}?include=insights` })
    expect(JSON.parse(response.body)).toMatchObject({ insights: { table: { id: 'test' } } })
  })

  it('judges no real address', async () => {
    const fault = faultOf(await ask({ ip: '9.1.2.3' }))
    expect(fault.param).toBe('ip')
    expect(fault.message).toContain('A test key answers only for test addresses')
  })

  it('hears what is wrong with a body as any key does', async () => {
    expect(faultOf(await ask({})).param).toBe('ip')
    expect(faultOf(await ask({ ip: '198.18.0.1:80' })).message).toContain('port')
  })

  it('hears of a batch that is too deep for JSON that it is', async () => {
    const deep = `{"ips":[${'['.repeat(50_000)}${']'.repeat(50_000)}]}`
    const sent = { port: server.port, path: `${path}/batch`, key, body: deep }
    expect(faultOf(await sendTo(sent))).toMatchObject({ param: 'ips' })
  })

  it('gets batches', async () => {
    const response = await ask(
      { ips: ['198.18.0.4', 'x', '9.1.2.3', 7] },
      { path: `${path}/batch` },
    )
    expect(JSON.parse(response.body)).toMatchObject({
      results: [
        { classification: 'proxy' },
        { ip: 'x', error: { code: 'invalid_input' } },
        { ip: '9.1.2.3', error: { message: expect.stringContaining('test key') } },
        { ip: '7' },
      ],
    })
    const refused = await ask({ ips: ['198.18.0.4', '198.18.0.22'] }, { path: `${path}/batch` })
    expect(errorOf(refused)).toBe('upstream_unavailable')
  })

  it('has what it reports checked, and not kept', async () => {
    const feedback = { path: '/v1/intelligence/ip-risk/feedback' }
    const good = await ask({ outcomes: [{ ip: '9.1.2.3', outcome: 'abusive' }] }, feedback)
    expect([good.status, good.body]).toEqual([202, '{"accepted":1}'])
    const bad = await ask({ outcomes: [{ ip: '9.1.2', outcome: 'abusive' }] }, feedback)
    expect(faultOf(bad)).toMatchObject({ param: 'outcomes[0].ip' })
    const { out } = await runHere(
      ['feedback', 'report', '--state', server.state, '--table', writeSmallTable(), '--json'],
      { cwd: newFolder() },
    )
    expect(out).not.toContain('9.1.2.3')
  })

  it('does not pass for another key, nor another key for it', async () => {
    const plain = key.replace('irkt_', 'irk_')
    expect(errorOf(await send({ ip: '198.18.0.1' }, { key: plain }))).toBe('invalid_api_key')
  })
})

it('no metric of requests but its own counts what a test key asks', async () => {
  const counted = async (name: string, labels = '') => server.metric(`iprisk_${name}`, labels)
  const before = await counted('test_requests_total', '"503"')
  await ask({ ip: '198.18.0.22' })
  await Promise.all(Array.from({ length: 40 }, () => send({ ip: '198.18.0.1' })))
  expect(await counted('test_requests_total', '"503"')).toBe(before + 1)
  expect(await counted('test_requests_total', '"429"')).toBeGreaterThan(0)
  // Without a key no request is a test key's.
  await send({ ip: '198.18.0.1' }, { key: 'none' })
  expect(await counted('requests_total')).toBe(await counted('requests_total', '"401"'))
  expect(await counted('requests_total')).toBeGreaterThan(0)
  expect(await counted('limited_requests_total')).toBe(0)
  expect(await counted('request_duration_seconds_count')).toBe(await counted('requests_total'))
})

it('a test key takes no limits of its own', async () => {
  const args = ['keys', 'create', '--test', '--rate', '100', '--state', server.state]
  const { code, err } = await runHere(args, { cwd: newFolder() })
  expect(code).toBe(2)
  expect(err).toContain('--test excludes')
})
