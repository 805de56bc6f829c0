// Agents end to end (contract 6.6): a server that fetches keys from a real directory, and verifies
// what checks, insights, batches and the gate hand on; and one whose directory is away or silent.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryUrl } from '../../src/agents/web-bot-auth.ts'
import type { AgentAnswer, SignedRequest } from '../../src/api/agent-context.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { agentHost, newSigningKey, signed } from '../agents/sign.ts'
import { tableWithCrawler } from '../agents/crawler-table.ts'
import { eventually } from '../eventually.ts'
import { converse, responsesIn } from '../http/raw-socket.ts'
import { answerKeys, startDirectory } from '../supervisor/agents/directory-server.ts'
import { type Server, keyedState, sleep, startServer, workersOf } from './server.ts'

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const [crawler, home] = ['9.50.0.1', '9.5.0.2']
const signingKey = newSigningKey()
const url = directoryUrl(agentHost)
const none: AgentAnswer = {
  status: 'unverified',
  name: '',
  operator: '',
  category: '',
  identified_by: '',
  directory: '',
}
const google = { ...none, name: 'Googlebot', operator: 'Google', category: 'search_crawler' }
const bySignature = { ...none, status: 'verified', identified_by: 'signature', directory: url }
const byRange = { ...google, status: 'verified', identified_by: 'published_range' }

/** Signed now, for this authority. */
function visit(authority = 'shop.example', key = signingKey): SignedRequest {
  const now = Math.floor(Date.now() / 1000)
  const parameters = { created: String(now), expires: String(now + 300) }
  return signed({ key, authority, parameters })
}

let site: Awaited<ReturnType<typeof startDirectory>>
let server: Server
let gatePort = 0
let config = ''
const table = tableWithCrawler()
const { state, key } = await keyedState()

async function start(): Promise<void> {
  gatePort = await freePort()
  const gate = ['--gate', `127.0.0.1:${gatePort}`, '--gate-challenge=401']
  const args = ['--config', config, ...gate, '--hang-ms', '20000']
  server = await startServer({ table, state, args, environment: site.environment })
}

beforeAll(async () => {
  site = await startDirectory(agentHost)
  site.directory.answer = answerKeys(signingKey.x)
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-agents-'))
  config = join(folder, 'iprisk.json')
  const rules = [
    { name: 'spoofed-crawler', condition: 'agent.status == "spoofed"', action: 'challenge' },
    { name: 'agents', condition: 'agent.status == "verified"', action: 'welcome' },
  ]
  const policies = join(folder, 'policies.json')
  writeFileSync(policies, JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }))
  const agents = { authorities: ['Shop.Example', 'localhost:8443'], directories: [agentHost] }
  writeFileSync(config, JSON.stringify({ agents, policies }))
  await start()
  await eventually(async () => (await check(home, { signature: visit() })).agent?.directory === url)
})
afterAll(async () => {
  await server.stop()
  site.close()
})

/** JSON.parse reads it, and JSON.stringify cannot write it again. */
const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`

async function post(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body).replaceAll('"{deep}"', deep),
  })
  expect(response.status).toBe(200)
  return response.json()
}

const check = async (ip: string, agent?: unknown): Promise<CheckAnswer> =>
  (await post('/check', { ip, agent })) as CheckAnswer

const headersOf = ({ headers }: SignedRequest) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

const askGate = async (ip: string, headers: readonly string[]): Promise<number | undefined> => {
  const lines = ['Host: shop.example', 'Connection: close', `X-Forwarded-For: ${ip}`, ...headers]
  const { text } = await converse(gatePort, [`GET /gate HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`])
  return responsesIn(text)[0]?.status
}

/** The named crawler would be stopped. On a busy machine a verification may take too long. */
const verifies = (lines: readonly string[]) =>
  eventually(async () => (await askGate(home, lines)) === 204)

describe('the agent of a check', () => {
  const longAgo = { created: '1700000000', expires: '1700000300' }
  const cases: readonly [title: string, ip: string, agent: unknown, answer: object][] = [
    ['a browser', home, { user_agent: 'Mozilla/5.0' }, none],
    ['nothing', home, {}, none],
    ['a crawler in its range', crawler, { user_agent: googlebot }, byRange],
    ['its name from elsewhere', home, { user_agent: googlebot }, { ...google, status: 'spoofed' }],
    [
      'a crawler without ranges',
      home,
      { user_agent: 'SemrushBot/7' },
      { ...none, name: 'SemrushBot', operator: 'Semrush', category: 'seo' },
    ],
    ['a signed request', home, { signature: visit() }, bySignature],
    [
      'signed, with the name of another',
      home,
      { user_agent: googlebot, signature: visit() },
      bySignature,
    ],
    ['signed for another authority', home, { signature: visit('bank.example') }, none],
    ['signed by another key', home, { signature: visit(undefined, newSigningKey()) }, none],
    ['expired', home, { signature: signed({ key: signingKey, parameters: longAgo }) }, none],
  ]
  it.each(cases)('%s', async (_title, ip, agent, answer) => {
    const { decision: _decision, ...plain } = await check(ip)
    const { agent: found, decision, ...rest } = await check(ip, agent)
    expect(found).toEqual(answer)
    expect(rest).toEqual(plain)
    const action = { verified: 'welcome', spoofed: 'challenge' }[String(found?.status)] ?? 'allow'
    expect(decision?.action).toBe(action)
    const asked = { ip, agent }
    const { agent: insights } = (await post('/check?include=insights', asked)) as CheckAnswer
    expect(insights).toEqual(answer)
    const { results } = (await post('/check/batch', { checks: [{ ip }, asked] })) as {
      readonly results: readonly CheckAnswer[]
    }
    expect(results.map((one) => one.agent)).toEqual([undefined, answer])
  })

  const { headers, ...line } = visit()
  const wrong: readonly [param: string, agent: unknown][] = [
    ['agent', 7],
    ['agent', null],
    ['agent', ['Googlebot']],
    ['agent', { user_agent: 'a', more: 'x'.repeat(8192) }],
    ['agent', { user_agent: '{deep}' }],
    ['agent.user_agent', { user_agent: 7 }],
    ['agent.user_agent', { user_agent: 'x'.repeat(1025) }],
    ['agent.signature', { signature: 'sig1=:AA==:' }],
    ['agent.signature', { signature: line }],
    ['agent.signature', { signature: { ...line, headers: { ...headers, signature: 7 } } }],
    ['agent.signature', { signature: { ...line, headers: { ...headers, signature: 'sig1=:' } } }],
    ['agent.signature', { signature: { ...line, method: undefined, headers } }],
  ]
  it.each(wrong)('that is wrong fails no check: %s %j', async (param, agent) => {
    const answer = await check(home, agent)
    expect(answer.agent).toEqual({ ...none, status: 'unknown' })
    expect(answer.context_errors).toEqual([{ param, message: expect.any(String) }])
    const inBatch = (await post('/check/batch', { checks: [{ ip: home, agent }] })) as object
    expect(inBatch).toEqual({ results: [answer] })
  })

  it('is still spoofed beside a signature that is unreadable', async () => {
    const signature = { ...line, headers: { ...headers, signature: '((' } }
    const answer = await check(home, { user_agent: googlebot, signature })
    expect(answer.agent?.status).toBe('spoofed')
  })

  it('in a large batch is judged by ranges alone', async () => {
    const agent = { user_agent: googlebot }
    const checks = Array.from({ length: 300 }, () => ({ ip: crawler, agent }))
    const more = [
      { ip: home, agent: { signature: visit() } },
      { ip: home, agent },
    ]
    const { results } = (await post('/check/batch', { checks: [...checks, ...more] })) as {
      readonly results: readonly CheckAnswer[]
    }
    const statuses = results.map((one) => one.agent?.status)
    expect(statuses).toEqual([...checks.map(() => 'verified'), 'unknown', 'spoofed'])
  })

  it('decides at the gate by the headers of the visitor', async () => {
    await expect(askGate(home, [])).resolves.toBe(204)
    await expect(askGate(home, [`User-Agent: ${googlebot}`])).resolves.toBe(401)
    await expect(askGate(crawler, [`User-Agent: ${googlebot}`])).resolves.toBe(204)
    const lines = [`User-Agent: ${googlebot}`, ...headersOf(visit())]
    await verifies(lines)
    const elsewhere = [`User-Agent: ${googlebot}`, ...headersOf(visit('bank.example'))]
    await expect(askGate(home, elsewhere)).resolves.toBe(401)
    const padded = `User-Agent: ${googlebot} ${'x'.repeat(1100)}`
    await expect(askGate(home, [padded])).resolves.toBe(401)
    // Two lines of a header are one list (RFC 9110, 5.3): the agent's signature and a proxy's.
    const [first, second] = [visit(), visit()].map(headersOf)
    const relabelled = second!.map((line) => line.replaceAll('sig1', 'proxy'))
    await verifies([...lines, ...relabelled])
    await verifies([`User-Agent: ${googlebot}`, ...relabelled, ...first!])
    const broken = [`User-Agent: ${googlebot}`, ...headersOf(visit()), 'Signature: ((']
    await expect(askGate(home, broken)).resolves.toBe(401)
  })

  it('at the gate belongs to the host that the proxy names, else to the Host of its request', async () => {
    const linesOf = (authority: string, more: readonly string[]) => [
      `User-Agent: ${googlebot}`,
      ...headersOf(visit(authority)),
      ...more,
    ]
    const ask = (authority: string, more: readonly string[]) =>
      askGate(home, linesOf(authority, more))
    const named = (host: string) => `X-Forwarded-Host: ${host}`
    await verifies(linesOf('localhost:8443', [named('localhost:8443')]))
    await expect(ask('localhost:8443', [])).resolves.toBe(401)
    // Whoever writes the header, a name that is not the operator's proves nothing.
    await expect(ask('bank.example', [named('bank.example')])).resolves.toBe(401)
    await expect(ask('shop.example', [named('bank.example')])).resolves.toBe(401)
    const appended = [named('localhost:8443'), named('shop.example')]
    await expect(ask('localhost:8443', appended)).resolves.toBe(401)
    const strange = [named('shop.example'), 'X-Forwarded-Proto: https://bank.example/?']
    await expect(ask('shop.example', strange)).resolves.toBe(401)
  })
})

it('no request makes the server fetch, or starts a process', async () => {
  const asked = site.directory.asked
  await eventually(() => helpersOf(server).length === 0)
  const strange = newSigningKey()
  for (const agent of [undefined, 'sig1="https://other.example"']) {
    const now = Math.floor(Date.now() / 1000)
    const parameters = { created: String(now), expires: String(now + 300) }
    const signature = signed({ key: strange, parameters, ...(agent && { agent }) })
    const { agent: found } = await check(home, { signature })
    expect(found?.status).toBe('unverified')
  }
  await sleep(300)
  expect([site.directory.asked, helpersOf(server)]).toEqual([asked, []])
})

/** Its process that fetches keys. */
const helpersOf = (of: Server): readonly number[] =>
  workersOf(of).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fetch-keys'))

const silent = (): undefined => undefined
it.each([
  ['the directory is away', (response: ServerResponse) => void response.destroy(), undefined],
  ['the directory is silent', silent, undefined],
  ['the process that fetches is frozen', silent, 'SIGSTOP'],
  ['the process that fetches is killed', silent, 'SIGKILL'],
] as const)('checks go on with the keys on disk while %s', async (_what, answer, signal) => {
  await server.stop()
  site.directory.answer = answer
  const asked = site.directory.asked
  await start()
  await eventually(() => site.directory.asked > asked)
  const helpers = signal === undefined ? [] : helpersOf(server)
  expect(helpers).toHaveLength(signal === undefined ? 0 : 1)
  for (const pid of helpers) process.kill(pid, signal)
  const begun = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => check(home, { signature: visit() })),
  )
  expect(performance.now() - begun).toBeLessThan(5000)
  const strange = answers
    .map(({ agent }) => agent?.status)
    .filter((status) => status !== 'verified' && status !== 'unknown')
  expect(strange).toEqual([])
  const { agent } = await check(home, { signature: visit() })
  expect(agent).toEqual(bySignature)
})
