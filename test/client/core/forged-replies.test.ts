// Each member of a reply that the client reads, in each form that it should not have: none lets a
// blocked visitor in unless the application's `fallback` says so, and none shows as an error of the
// client's own code.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Client } from '../../../src/client/core/check-result.ts'
import { createRequestGuard } from '../../../src/client/middleware/request-guard.ts'
import { createClient } from '../../../src/client/node-client.ts'
import { answerFor, decided, errorOf, type StandIn, standIn } from '../stand-in.ts'

const ip = '2a00:1:2:3::1'
const neighborhood = [{ scope: '2a00:1:2:3::/64', unit: '/64', size: 1, listed: [] }]
const blocked = { ...answerFor(ip), decision: decided('block'), insights: { neighborhood } }

/** JSON texts; the empty one stands for a member that is absent. */
const forms: Readonly<Record<string, string>> = {
  absent: '',
  null: 'null',
  true: 'true',
  false: 'false',
  'a negative number': '-1',
  'an infinite number': '1e999',
  'an empty text': '""',
  'a text': '"x"',
  'an array': '["allow"]',
  'an array of null': '[null]',
  'an object': '{}',
  'an object without a text': '{"toString":null,"valueOf":1,"length":"x"}',
  'an object with a prototype': '{"__proto__":{"action":"allow"},"constructor":{"action":"allow"}}',
  'a long text': JSON.stringify('x'.repeat(2 ** 20)),
}

/** `whole` as JSON, with another text at the path, or without that member. */
function forge(whole: unknown, path: readonly (string | number)[], text: string): string {
  const copy = structuredClone({ whole }) as Record<string | number, unknown>
  let parent = copy
  const [last, ...outer] = ['whole', ...path].toReversed()
  for (const member of outer.toReversed()) parent = parent[member] as typeof parent
  if (text === '') delete parent[last!]
  else parent[last!] = '\u0000forged'
  return JSON.stringify(copy['whole'] ?? '').replace('"\\u0000forged"', () => text)
}

let reply = { status: 200, body: '' }
let server: StandIn
beforeEach(async () => {
  server = await standIn(() => reply)
})

const clients: Client[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})

function clientOf(fallback: 'allow' | 'block') {
  const told: string[] = []
  const tell = ({ message }: { readonly message: string }): void => void told.push(message)
  const client = createClient({
    url: server.url,
    key: 'irk_k',
    timeoutMs: 10_000,
    cacheMs: 60_000,
    circuitFailures: 1000,
    fallback,
    onMisconfigured: tell,
    onUnavailable: tell,
  })
  clients.push(client)
  return { client, told }
}

/** What the code of the client itself would say where it trips. */
const tripped = /Cannot|is not a|not iterable|undefined|convert|read propert/

/** What decides whether the answer is believed; with all others forged, the decision stands. */
const needed = new Set([
  'classification',
  'risk_score',
  'ip',
  'table',
  'decision',
  'decision.action',
  'decision.policy',
])

const members: readonly (readonly (string | number)[])[] = [
  [],
  ...Object.keys(blocked).map((member) => [member]),
  ...['address', 'coverage', 'lists', 'observed', 'error'].map((member) => [member]),
  ...['action', 'rule', 'policy'].map((member) => ['decision', member]),
  ['insights', 'neighborhood'],
  ['insights', 'neighborhood', 0],
  ['insights', 'neighborhood', 0, 'scope'],
  ['insights', 'neighborhood', 0, 'listed'],
]

describe('a forged answer', () => {
  it.each(members.map((path) => [path.join('.'), path] as const))(
    'in %j lets no blocked visitor in',
    async (name, path) => {
      const clients = { block: clientOf('block'), allow: clientOf('allow') }
      for (const [at, [form, text]] of Object.entries(forms).entries()) {
        const isNeeded = name === '' || needed.has(name) || form === 'a long text'
        const answer = forge(blocked, path, text)
        for (const fallback of ['block', 'allow'] as const) {
          const { client, told } = clients[fallback]
          const judge = createRequestGuard({ client, policy: 'login', insights: true })
          // The second is of the same /64, which the cache may answer.
          for (const peer of [`2a00:1:2:${at}::1`, `2a00:1:2:${at}::2`]) {
            reply = { status: 200, body: answer.replace(ip, peer) }
            const { judged, stop } = await judge({ headers: {}, peer })
            const { action, result } = judged
            const isStopped = stop === 'default' && typeof action === 'string'
            const isLetInByFallback = stop === undefined && isNeeded && !result.ok
            const claim = `${form}, fallback ${fallback}: ${action}, ${told.at(-1)}`
            expect([claim, isStopped]).toEqual([claim, fallback === 'block' || !isLetInByFallback])
          }
        }
      }
      for (const { client, told } of Object.values(clients)) {
        const { unavailable, misconfigured } = client.counts()
        expect(told).toHaveLength(unavailable + misconfigured)
        expect(told.join()).not.toMatch(tripped)
      }
    },
    60_000,
  )
})

describe('a forged reply', () => {
  const results = [blocked, { ip: '203.0.113.1', error: { code: 'invalid_input', message: 'no' } }]

  it.each([[[]], [['results']], [['results', 0]], [['results', 1]], [['results', 1, 'error']]])(
    'to a batch, in %j, gives each address a result',
    async (path) => {
      for (const [form, text] of Object.entries(forms)) {
        reply = { status: 200, body: forge({ results }, path, text) }
        const { client, told } = clientOf('block')
        const found = await client.checkBatch([ip, '203.0.113.1'], { policy: 'login' })
        const actions = found.map((one) => (one.ok ? one.decision?.action : one.fallback))
        expect([form, actions]).toEqual([form, ['block', 'block']])
        expect(told.join()).not.toMatch(tripped)
      }
    },
  )

  it.each([[[]], [['accepted']]])('to feedback, in %j, is accepted or not', async (path) => {
    for (const text of Object.values(forms)) {
      reply = { status: 202, body: forge({ accepted: 1 }, path, text) }
      const { client, told } = clientOf('block')
      const result = await client.feedback([{ ip, outcome: 'abusive' }])
      expect(result.ok ? typeof result.accepted : result.reason).toMatch(/^(?:number|unavailable)$/)
      expect(told.join()).not.toMatch(tripped)
    }
  })

  it.each([[[]], [['error']], [['error', 'code']], [['error', 'message']]])(
    'of an error, in %j, is told briefly',
    async (path) => {
      for (const [form, text] of Object.entries(forms)) {
        reply = { status: 503, body: forge(errorOf('upstream_unavailable'), path, text) }
        const { client, told } = clientOf('block')
        const result = await client.check(ip)
        expect([form, result]).toEqual([
          form,
          { ok: false, reason: 'unavailable', fallback: 'block' },
        ])
        expect(told.join()).not.toMatch(tripped)
        expect(told.join().length).toBeLessThanOrEqual(1000)
      }
    },
  )
})
