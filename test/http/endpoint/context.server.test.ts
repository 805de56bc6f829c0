// Optional context never fails a check (contract 6.5 and 6.7): right and wrong `previous` as a check,
// with insights, in small batches (the loop) and large ones (the pool), beside a policy that blocks.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { unknownTravel } from '../../../src/context/travel.ts'
import { newFolder } from '../../cli/program.ts'
import { wrongPrevious } from '../../context/wrong-previous.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const checkPath = '/v1/intelligence/ip-risk/check'
const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
/** 17,556 km from 9.x. */
const far = JSON.stringify({ ip: '11.5.0.1', at: hourAgo })
const tor = '9.1.2.3'
const clean = '9.5.0.2'

let server: Server
let key = ''
let test = ''

beforeAll(async () => {
  const file = join(newFolder(), 'policies.json')
  const rules = [
    { name: 'tor', condition: 'signals.tor', action: 'block' },
    { name: 'fast', condition: 'travel.kmh > 1000', action: 'challenge' },
    { name: 'sure', condition: 'travel.known && travel.reliable', action: 'block', observe: true },
  ]
  const policies = { default: { rules, otherwise: 'allow' } }
  writeFileSync(file, JSON.stringify({ policies }), { mode: 0o600 })
  const state = newState()
  key = await makeKey(state, { plan: 'internal' })
  test = await makeKey(state, { test: true })
  // A machine that is busy with other things must not make a busy worker a hung one.
  const args = ['--policies', file, '--hang-ms', '20000']
  server = await startServer({ table: writeSmallTable(), state, args })
})
afterAll(() => server.stop())

async function post(path: string, body: string, by = key): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, connection: 'close' },
    body,
  })
  expect(response.status).toBe(200)
  return response.json()
}

/** `previous` is JSON. */
const bodyOf = (ip: string, previous?: string): string =>
  previous === undefined ? JSON.stringify({ ip }) : `{"ip":"${ip}","previous":${previous}}`

async function rowsOf(checks: readonly string[], query = '', by = key) {
  const answer = await post(`${checkPath}/batch${query}`, `{"checks":[${checks.join()}]}`, by)
  return (answer as { readonly results: readonly CheckAnswer[] }).results
}

/** A check and an element of a batch, by the loop and by the pool; `insights` are taken off. */
const ways: Readonly<Record<string, (body: string) => Promise<CheckAnswer>>> = {
  check: async (body) => (await post(checkPath, body)) as CheckAnswer,
  insights: async (body) => {
    const { insights, ...answer } = (await post(`${checkPath}?include=insights`, body)) as {
      readonly insights: unknown
    } & CheckAnswer
    expect(insights).toMatchObject({ score_range: expect.any(Array) })
    return answer
  },
  'small batch': (body) => inBatch(body, 3),
  'large batch': (body) => inBatch(body, 300),
}

async function inBatch(body: string, count: number): Promise<CheckAnswer> {
  const checks = Array.from({ length: count }, (_, at) => (at === 1 ? body : bodyOf(clean)))
  const results = await rowsOf(checks)
  expect(results).toHaveLength(count)
  for (const one of [results[0]!, results[count - 1]!]) {
    expect(Object.keys(one)).not.toContain('travel')
    expect(one.decision).toMatchObject({ action: 'allow', rule: '' })
  }
  return results[1]!
}

describe.each(Object.keys(ways))('a %s', (name) => {
  const way = ways[name]!

  it('says how far and how fast, and decides by it', async () => {
    const { travel, decision, observed, ...rest } = await way(bodyOf(clean, far))
    expect(travel).toMatchObject({ known: true, km: 17_556, reliable: false })
    expect(decision).toMatchObject({ action: 'challenge', rule: 'fast' })
    expect(observed).toBeUndefined()
    const { decision: _, ...plain } = await way(bodyOf(clean))
    expect(rest).toEqual(plain)
    const same = await way(bodyOf(clean, far.replace('11.', '9.')))
    expect(same).toMatchObject({ decision: { rule: '' }, observed: ['sure'], travel: { km: 0 } })
  })

  it('never fails for its context, and a block stays', async () => {
    const wrong = wrongPrevious(Date.now())
    const plain = await way(bodyOf(tor))
    expect(wrong.length).toBeGreaterThanOrEqual(30)
    for (const [previous, param] of wrong) {
      const { travel, context_errors: errors, ...rest } = await way(bodyOf(tor, previous))
      expect(travel).toEqual(unknownTravel)
      expect(errors).toEqual([{ param, message: expect.any(String) }])
      expect(rest).toEqual(plain)
      expect(rest.decision).toMatchObject({ action: 'block', rule: 'tor' })
    }
  })
})

it('has no prefix, for it holds for its request alone', async () => {
  const bodies = [bodyOf(clean), bodyOf(clean, far), bodyOf(clean, '7')]
  const results = await rowsOf(bodies, '?include=prefix')
  const single = await Promise.all(bodies.map((one) => post(`${checkPath}?include=prefix`, one)))
  expect(results.map(withoutTime)).toEqual(single.map(withoutTime))
  expect(results.map((one) => 'prefix' in one)).toEqual([true, false, false])
})

it('has detections where asked, beside prefix and context', async () => {
  const checks = [bodyOf(tor), bodyOf(clean, far), bodyOf('10.0.0.1')]
  const query = '?include=prefix,detections'
  const inPool = () => server.metric('iprisk_pool_items_total')
  const before = await inPool()
  const single = await Promise.all(checks.map((one) => post(checkPath + query, one)))
  await rowsOf(checks, query)
  expect(await inPool()).toBe(before)
  const ofMany = Array.from({ length: 300 }, (_, at) => checks[at % 3]!)
  expect(await rowsOf(checks, query)).toMatchObject(single.map(withoutTime))
  expect(await rowsOf(ofMany, query)).toMatchObject(
    ofMany.map((_, at) => withoutTime(single[at % 3])),
  )
  const [listed, travelled, bogon] = single as CheckAnswer[]
  expect(listed).toMatchObject({
    prefix: '9.1.2.3/32',
    detections: [
      { kind: 'tor', confidence: 'high', percent_days_seen: 14.29 },
      { kind: 'blocklist', confidence: 'high', provider: '' },
    ],
  })
  expect(Object.keys(travelled!).slice(-2)).toEqual(['detections', 'travel'])
  expect(travelled).toMatchObject({ detections: [], travel: { km: 17_556 } })
  expect(bogon).toMatchObject({ prefix: '10.0.0.0/8', detections: [] })
  const insights = await post(`${checkPath}?include=detections,insights`, bodyOf(tor))
  expect(insights).toMatchObject({ detections: listed!.detections, insights: {} })
  const ofTest = await post(checkPath + query, bodyOf('198.18.0.5'), test)
  expect(ofTest).toMatchObject({ detections: [{ kind: 'vpn', provider: 'Example VPN' }] })
})

/** Hours and speed go on. */
function withoutTime(answer: unknown): unknown {
  const { travel, ...rest } = answer as CheckAnswer
  return travel === undefined ? rest : { ...rest, travel: { km: travel.km } }
}

it('has travel for a test key, whose addresses have no place', async () => {
  const body = bodyOf('198.18.0.6', '{"ip":"198.18.0.1","at":"x"}')
  const answer = await post(checkPath, body, test)
  expect(answer).toMatchObject({ travel: unknownTravel, decision: { action: 'block' } })
  expect(answer).toMatchObject({ context_errors: [{ param: 'previous.at' }] })
  expect(await rowsOf([body], '', test)).toEqual([answer])
})
