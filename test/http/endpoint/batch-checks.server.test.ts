// Batches of checks (contract 6.10) and the prefix of their answers (6.4) on a real server: each
// element against the same body sent as a check, whether the loop answers the batch or the pool.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BatchFault, batchFaults } from '../../../src/api/input-fault.ts'
import type { BatchAnswer, ErrorBody } from '../../../deploy/reference/openapi.ts'
import { newFolder } from '../../cli/program.ts'
import { newRandom } from '../../oracle/sample.ts'
import { type Server, makeKey, newState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { randomText } from './batch-texts.ts'

const checkPath = '/v1/intelligence/ip-risk/check'
const random = newRandom(610)
const policies = {
  default: { rules: [{ name: 'high', condition: 'risk_score >= 50', action: 'challenge' }] },
  login: { rules: [{ name: 'tor', condition: 'signals.tor', action: 'block' }] },
  hidden: { rules: [] },
}

let server: Server
let key = ''
let limited = ''
let test = ''

beforeAll(async () => {
  const file = join(newFolder(), 'policies.json')
  const whole = Object.entries(policies).map(([name, rules]) => [
    name,
    { ...rules, otherwise: 'allow' },
  ])
  writeFileSync(file, JSON.stringify({ policies: Object.fromEntries(whole) }), { mode: 0o600 })
  const state = newState()
  const allowed = { policies: ['default', 'login'] }
  key = await makeKey(state, allowed)
  limited = await makeKey(state, { ...allowed, limits: { quotaPerMonth: 1000 } })
  test = await makeKey(state, { ...allowed, test: true })
  server = await startServer({ table: writeSmallTable(), state, args: ['--policies', file] })
})
afterAll(() => server.stop())

function post(path: string, body: unknown, by = key): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    // The server closes idle connections while a busy machine compares.
    headers: { authorization: `Bearer ${by}`, connection: 'close' },
    body: JSON.stringify(body),
  })
}

type Row = BatchAnswer['results'][number] & { readonly prefix?: string }

async function rowsOf(query: string, body: unknown, by = key): Promise<readonly Row[]> {
  const response = await post(`${checkPath}/batch${query}`, body, by)
  expect(response.status).toBe(200)
  return ((await response.json()) as { results: Row[] }).results
}

/** As a row of a batch. */
async function single(query: string, body: unknown, by = key): Promise<unknown> {
  const response = await post(checkPath + query, body, by)
  const answer = (await response.json()) as ErrorBody
  if (response.status === 200) return answer
  const { code, message, param } = answer.error
  const { ip } = (body ?? {}) as { readonly ip?: unknown }
  const error = { code, message, ...(param === undefined ? {} : { param }) }
  return { ip: typeof ip === 'string' ? ip : '', error }
}

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!
}

function randomCheck(): unknown {
  if (random() < 0.05)
    return pick<unknown>([null, 7, '9.1.2.3', [], {}, { ips: [] }, { ip: ['9.1.2.3'] }])
  const ip = random() < 0.1 ? pick<unknown>(['', ' 9.1.2.3', '9.1.2.3/8', 7, 'ä']) : randomText()
  const named = random()
  if (named < 0.5) return { ip }
  return {
    ip,
    policy:
      named < 0.9 ? pick(['login', 'default']) : pick<unknown>(['hidden', 'none', '', 7, null]),
  }
}

describe('a batch of checks', () => {
  it.each([
    ['the loop', 1, ''],
    ['the loop', 64, '?include=prefix'],
    ['the loop', 256, ''],
    ['the pool', 300, '?include=prefix'],
  ])(
    'has the answers and errors of single checks: by %s, %i elements%s',
    async (by, size, query) => {
      const checks = Array.from({ length: size }, randomCheck)
      const before = await server.metric('iprisk_pool_tasks_total')
      const rows = await rowsOf(query, { checks })
      const isPooled = (await server.metric('iprisk_pool_tasks_total')) > before
      expect(isPooled).toBe(by === 'the pool')
      expect(rows).toHaveLength(size)
      for (let from = 0; from < size; from += 50) {
        const some = checks.slice(from, from + 50)
        const wanted = await Promise.all(some.map((check) => single(query, check)))
        expect(rows.slice(from, from + 50)).toEqual(wanted)
      }
    },
  )

  it('of the policy that the batch names, where an element names none', async () => {
    const checks = [{ ip: '9.1.2.3' }, { ip: '9.1.2.3', policy: 'default' }]
    for (const length of [1, 200]) {
      const many = Array.from({ length }, () => checks).flat()
      const rows = await rowsOf('', { checks: many, policy: 'login' })
      const names = rows.map((row) => ('decision' in row ? row.decision?.policy : undefined))
      expect(names).toEqual(Array.from({ length }, () => ['login', 'default']).flat())
    }
  })

  it('is charged for the elements that are answered', async () => {
    const checks = [{ ip: '9.1.2.3' }, { ip: 'x' }, { ip: '9.1.2.4', policy: 'none' }, {}, 7]
    let left = 1000
    for (const times of [1, 60]) {
      const body = { checks: Array.from({ length: times }, () => checks).flat() }
      const response = await post(`${checkPath}/batch`, body, limited)
      await response.arrayBuffer()
      left -= times
      expect(response.headers.get('ratelimit')).toContain(`"quota";r=${left}`)
    }
  })

  it.each<readonly [BatchFault, unknown]>([
    ['both', { ips: ['9.1.2.3'], checks: [{ ip: '9.1.2.3' }] }],
    ['checks_no_array', { checks: { ip: '9.1.2.3' } }],
    ['checks_none', { checks: [] }],
    ['checks_too_many', { checks: Array(10_001).fill(7) }],
  ])('is 400 as a whole where it is wrong as a whole: %s', async (fault, body) => {
    const response = await post(`${checkPath}/batch`, body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as ErrorBody
    expect(error).toMatchObject(batchFaults[fault])
  })

  it('has the cases of test keys', async () => {
    const checks = [
      { ip: '198.18.0.6', policy: 'login' },
      { ip: '198.18.0.1' },
      { ip: '9.1.2.3' },
      {},
    ]
    const rows = await rowsOf('?include=prefix', { checks }, test)
    const wanted = await Promise.all(checks.map((one) => single('?include=prefix', one, test)))
    const real = rows[2] as { readonly error: { readonly message: string } }
    expect(rows.map((row, at) => (at === 2 ? real : row))).toEqual(
      wanted.map((row, at) => (at === 2 ? real : row)),
    )
    expect(rows[0]).toMatchObject({ prefix: '198.18.0.6/32', decision: { action: 'block' } })
  })

  it('keeps its slices short beside many others', async () => {
    const ips = Array.from({ length: 256 }, randomText)
    const batches = Array.from({ length: 40 }, () => rowsOf('', { ips }))
    const [first, ...others] = await Promise.all(batches)
    for (const other of others) expect(other).toEqual(first)
  })
})
