// Batches and insights on a real server: answers against single checks, order of errors, quota and
// rate, streams under back-pressure, a swap in the middle of one.

import { copyFileSync, readFileSync, renameSync } from 'node:fs'
import { connect } from 'node:net'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadsOf } from '../../../bench/harness/cpu.ts'
import { writeTable } from '../../../build/write/write-table.ts'
import { type BatchFault, batchFaults } from '../../../src/api/input-fault.ts'
import type { InsightsAnswer } from '../../../src/api/insights-answer.ts'
import type { ErrorBody, BatchAnswer } from '../../../deploy/reference/openapi.ts'
import type { KeyLimitOverrides } from '../../../src/account/keys/key-record.ts'
import { parseDay } from '../../../src/base/day.ts'
import { formatIpv4 } from '../../../src/ip/format-address.ts'
import { builtMsOf } from '../../../src/table/file/header.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { hasSlices, schedOf } from '../../base/system/thread-scheduling.ts'
import { expectedOf, randomText } from './batch-texts.ts'
import { smallContent, writeSmallTable } from '../../table/small-table.ts'
import {
  type Server,
  makeKey,
  newState,
  sleep,
  startServer,
  workersOf,
} from '../../serve/server.ts'
import { eventually } from '../../eventually.ts'

const checkPath = '/v1/intelligence/ip-risk/check'
const batchPath = `${checkPath}/batch`
const file = join(newState(), 'table.iprisk')
copyFileSync(writeSmallTable(), file)
const table = openTable(file)

let server: Server
const keys: Record<string, string> = {}

beforeAll(async () => {
  const state = newState()
  keys['internal'] = await makeKey(state)
  keys['team'] = await makeKey(state, { plan: 'team' })
  // A machine that is busy with other things must not make a busy worker a hung one.
  const args = ['--pool-threads', '2', '--pool-queue', '4', '--hang-ms', '20000']
  server = await startServer({ table: file, state, args })
})

afterAll(async () => {
  await server.stop()
})

async function keyWith(limits: KeyLimitOverrides, plan = 'internal'): Promise<string> {
  const key = await makeKey(server.state, { plan, limits })
  // Any request that asked whether the server knows it would be charged to its limits.
  await sleep(600)
  return key
}

function post(path: string, body: string | Uint8Array, key = keys['internal']!): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  })
}

const batchOf = (ips: readonly unknown[]): string => JSON.stringify({ ips })

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

async function statusOf(body: string, key?: string): Promise<number> {
  const response = await post(batchPath, body, key)
  await response.arrayBuffer()
  return response.status
}

describe('a batch', () => {
  it('answers byte for byte as single checks, in order', async () => {
    const before = await server.metric('iprisk_answers_total')
    let valid = 0
    for (const size of [1, 10, 99, 100, 101, 1000, 9999]) {
      const texts = Array.from({ length: size }, randomText)
      const response = await post(batchPath, batchOf(texts))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect((await response.text()) === expectedOf(texts, table)).toBe(true)
      valid += texts.filter((text) => table.check(text) !== undefined).length
    }
    await eventually(async () => (await server.metric('iprisk_answers_total')) >= before + valid)
    expect((await server.metric('iprisk_answers_total')) - before).toBe(valid)
    expect(await server.metric('iprisk_pool_tasks_total')).toBeGreaterThan(90)
  })

  it('has the very bytes of the check itself', async () => {
    const texts = ['9.1.2.3', '11.1.1.1', '10.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3', '2C00::1']
    const singles: string[] = []
    for (const ip of texts)
      singles.push(await (await post(checkPath, JSON.stringify({ ip }))).text())
    const many = Array.from({ length: 600 }, (_, i) => texts[i % texts.length]!)
    const body = await (await post(batchPath, batchOf(many))).text()
    const repeated = many.map((_, i) => singles[i % texts.length]!)
    expect(body).toBe(`{"results":[${repeated.join(',')}]}`)
    const few = await (await post(batchPath, batchOf(texts))).text()
    expect(few).toBe(`{"results":[${singles.join(',')}]}`)
  })

  it.each<readonly [BatchFault, string]>([
    ['empty', ''],
    ['no_json', '{"ips":'],
    ['array', '["9.1.2.3"]'],
    ['no_object', '"9.1.2.3"'],
    ['no_members', '{}'],
    ['other_member', '{"addresses":["9.1.2.3"]}'],
    ['check', '{"ip":"9.1.2.3"}'],
    ['no_array', '{"ips":"9.1.2.3"}'],
    ['none', '{"ips":[]}'],
    // Larger than what the loop reads itself.
    ['too_many', batchOf(Array(10_001).fill('9.1.2.3'))],
    ['no_json', `{"ips":[${'"9.1.2.3",'.repeat(5000)}`],
    ['too_deep', `{"ips":[${'['.repeat(400_000)}${']'.repeat(400_000)}]}`],
  ])('is 400 that says what is wrong: %s', async (fault, body) => {
    const response = await post(batchPath, body)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as ErrorBody
    const { doc_url, request_id: _id, code, ...said } = error
    expect(said).toEqual(batchFaults[fault])
    expect([code, doc_url]).toEqual(['invalid_input', '/docs/errors#invalid_input'])
  })

  it('says of each element that is no address what is wrong, and of the others what is known', async () => {
    const response = await post(batchPath, batchOf(['9.1.2.3', 7, null, ' 9.1.2.3', '9.1.2.3']))
    const { results } = (await response.json()) as BatchAnswer
    expect(results.map(({ ip }) => ip)).toEqual(['9.1.2.3', '7', 'null', ' 9.1.2.3', '9.1.2.3'])
    const errors = results.map((result) => ('error' in result ? result.error.message : ''))
    const beginnings = ['', 'Not a string', 'Not a string', 'The address ', '']
    expect(errors.map((text) => text.slice(0, 12))).toEqual(beginnings)
  })

  it('takes a body of 1 MiB and refuses a larger one', async () => {
    const text = batchOf(['9.1.2.3'])
    const whole = await post(batchPath, text + ' '.repeat(1_048_576 - text.length))
    expect(whole.status).toBe(200)
    expect(((await whole.json()) as { results: object[] }).results).toHaveLength(1)
    const larger = await post(batchPath, text + ' '.repeat(1_048_577 - text.length))
    expect(larger.status).toBe(413)
    expect(await codeOf(larger)).toBe('payload_too_large')
    expect((await post(checkPath, ' '.repeat(65_537))).status).toBe(413)
  })

  it('takes POST alone, and a key', async () => {
    const url = `http://127.0.0.1:${server.port}${batchPath}`
    const got = await fetch(url)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await post(batchPath, batchOf(['9.1.2.3']), 'none')).status).toBe(401)
  })
})

describe('the limits of a batch', () => {
  it('are spent by valid addresses, all or nothing', async () => {
    const key = await keyWith({ quotaPerMonth: 1000 })
    const ask = async (count: number, bad = 0): Promise<number> => {
      const texts = [...Array<string>(count).fill('9.1.2.3'), ...Array<string>(bad).fill('x')]
      const response = await post(batchPath, batchOf(texts), key)
      await response.arrayBuffer()
      return response.status
    }
    expect(await ask(600, 300)).toBe(200)
    expect(await ask(500)).toBe(429)
    expect(await ask(0, 500)).toBe(200)
    expect(await ask(390)).toBe(200)
    expect(await ask(11)).toBe(429)
    expect(await ask(10)).toBe(200)
    expect(await ask(1)).toBe(429)
    const refused = await post(batchPath, batchOf(['9.1.2.3']), key)
    expect(await codeOf(refused)).toBe('api_quota_exceeded')
  })

  it('that need more of the rate at once than the burst are told so, for waiting does not help', async () => {
    const key = await keyWith({ perSecond: 1, burst: 3 })
    const refused = await post(batchPath, batchOf(Array(301).fill('9.1.2.3')), key)
    expect(refused.status).toBe(400)
    expect(refused.headers.get('retry-after')).toBeNull()
    const { error } = (await refused.json()) as ErrorBody
    expect([error.code, error.param]).toEqual(['invalid_input', 'ips'])
    expect(error.message).toContain('burst of this key is 3: send at most 300 addresses')
  })

  it('are told to come again when there is rate for all of them', async () => {
    const key = await keyWith({ perSecond: 1, burst: 10 })
    const batch = (count: number): string => batchOf(Array(count).fill('9.1.2.3'))
    expect((await post(batchPath, batch(900), key)).status).toBe(200)
    const refused = await post(batchPath, batch(1000), key)
    expect(await codeOf(refused)).toBe('rate_limit_exceeded')
    // Ten of the rate come in ten seconds; one second would be enough for a check.
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThanOrEqual(9)
    expect(seconds).toBeLessThanOrEqual(11)
  })

  it('are spent of the rate by hundreds', async () => {
    const key = await keyWith({ perSecond: 1, burst: 10 })
    const texts = (count: number): string => batchOf(Array(count).fill('9.1.2.3'))
    expect((await post(batchPath, texts(500), key)).status).toBe(200)
    const refused = await post(batchPath, texts(501), key)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(await codeOf(refused)).toBe('rate_limit_exceeded')
    expect((await post(batchPath, texts(100), key)).status).toBe(200)
  })
})

describe('insights', () => {
  it('come on request for plans that have them, as the table has them', async () => {
    for (const ip of ['9.1.2.3', '11.1.1.1', '10.0.0.1', '2a01:4f8::3', '2002:0b01:0102::1']) {
      const response = await post(`${checkPath}?include=insights`, JSON.stringify({ ip }))
      expect(response.status).toBe(200)
      const builtMs = builtMsOf(file)
      expect(await response.text()).toBe(
        JSON.stringify(answerWithInsights({ ...table, builtMs }, ip)),
      )
    }
  })

  it('are left out where nobody asks, and null where the plan has none', async () => {
    const body = '{"ip":"9.1.2.3"}'
    const plain = await (await post(checkPath, body)).text()
    expect(plain).toBe(JSON.stringify(table.check('9.1.2.3')))
    for (const query of ['?include=', '?include', '?insights=1', '?']) {
      expect(await (await post(checkPath + query, body)).text()).toBe(plain)
    }
    const team = await post(`${checkPath}?include=insights`, body, keys['team'])
    expect(await team.text()).toBe(`${plain.slice(0, -1)},"insights":null}`)
    const listed = await post(`${checkPath}?a=b&include=,insights`, body)
    expect(((await listed.json()) as InsightsAnswer).insights).not.toBeNull()
  })

  it('cost one unit, and are refused as any check is', async () => {
    const key = await keyWith({ quotaPerMonth: 3 }, 'enterprise')
    const statuses: number[] = []
    for (let i = 0; i < 5; i += 1) {
      const response = await post(`${checkPath}?include=insights`, '{"ip":"9.1.2.3"}', key)
      statuses.push(response.status)
      await response.arrayBuffer()
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect((await post(`${checkPath}?include=insights`, '{"ip":"x"}')).status).toBe(400)
  })
})

/** A batch whose client reads nothing of it until it is told to. */
function slowBatch(
  count: number,
  key = keys['internal']!,
): {
  readonly read: () => Promise<string>
  /** Resolves when the first bytes of its answer are here. */
  readonly begun: () => Promise<void>
  readonly destroy: () => void
} {
  const body = batchOf(Array.from({ length: count }, (_, i) => formatIpv4(0x0901_0000 + i)))
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  socket.pause()
  socket.write(
    `POST ${batchPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  socket.on('error', () => undefined)
  return {
    begun: () => new Promise((resolve) => socket.once('readable', resolve)),
    destroy: () => socket.resetAndDestroy(),
    read: () =>
      new Promise((resolve) => {
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1')
          if (text.endsWith('\r\n0\r\n\r\n')) resolve(text)
        })
        socket.on('close', () => resolve(text))
        socket.resume()
      }),
  }
}

const openRequests = (): Promise<number> => server.metric('iprisk_pool_requests')

describe('a full pool', () => {
  it('says 503 with Retry-After at once, gives back what was charged, and recovers', async () => {
    const other = await makeKey(server.state)
    const key = await keyWith({ quotaPerMonth: 10 }, 'enterprise')
    const large = Array<string>(500).fill('9.1.2.3')
    const slow = Array.from({ length: 2 }, () => slowBatch(10_000))
    await eventually(async () => (await openRequests()) === 2)
    // Half of it is one tenant's, and the rest is there for others.
    expect(await statusOf(batchOf(large))).toBe(503)
    expect(await statusOf(batchOf(large), other)).toBe(200)
    slow.push(...Array.from({ length: 2 }, () => slowBatch(10_000, other)))
    await eventually(async () => (await openRequests()) === 4)
    for (let i = 0; i < 20; i += 1) {
      const from = performance.now()
      const response = await post(`${checkPath}?include=insights`, '{"ip":"9.1.2.3"}', key)
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('5')
      expect(await codeOf(response)).toBe('upstream_unavailable')
      expect(performance.now() - from).toBeLessThan(500)
    }
    // Other errors come first (3.12), though only the pool would have answered.
    expect(await statusOf(batchOf(large))).toBe(503)
    expect(await statusOf(`{"ips":[${'"9.1.2.3",'.repeat(500)}`)).toBe(400)
    expect(await statusOf(batchOf(Array(10_001).fill('9.1.2.3')))).toBe(400)
    expect(await statusOf(batchOf(large), key)).toBe(429)
    // What would take long to read is not read for them.
    const long = `${' '.repeat(192 << 10)}{"ips":["\\u0039.1.2.3"`
    expect([await statusOf(`${long}]}`), await statusOf(long)]).toEqual([503, 503])
    // A plain check, and a batch so small that it needs no pool, are not touched by it.
    expect((await post(checkPath, '{"ip":"9.1.2.3"}', key)).status).toBe(200)
    expect((await post(batchPath, batchOf(['9.1.2.3']), key)).status).toBe(200)
    const whole = await Promise.all(slow.map(({ read }) => read()))
    for (const text of whole) expect(text.match(/"classification"/g)).toHaveLength(10_000)
    await eventually(async () => (await openRequests()) === 0)
    for (let i = 0; i < 8; i += 1) {
      const response = await post(`${checkPath}?include=insights`, '{"ip":"9.1.2.3"}', key)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
    expect(await server.metric('iprisk_pool_refused_total')).toBeGreaterThanOrEqual(21)
  })

  it('has cost all of its units where its client goes in the middle, and none before its body', async () => {
    const key = await keyWith({ quotaPerMonth: 30_000 })
    const cut = connect({ port: server.port, host: '127.0.0.1' }).on('error', () => undefined)
    const head = `POST ${batchPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`
    cut.write(`${head}Content-Length: 100000\r\n\r\n{"ips":["9.1.2.3",`)
    const slow = slowBatch(10_000, key)
    await slow.begun()
    slow.destroy()
    cut.resetAndDestroy()
    await eventually(async () => (await openRequests()) === 0)
    const large = batchOf(Array(10_000).fill('9.1.2.3'))
    expect([await statusOf(large, key), await statusOf(large, key)]).toEqual([200, 200])
    expect(await statusOf(batchOf(['9.1.2.3']), key)).toBe(429)
  })

  it('is left by clients that go away', async () => {
    for (let round = 0; round < 10; round += 1) {
      const gone = Array.from({ length: 4 }, () => slowBatch(10_000))
      await sleep(round * 5)
      for (const one of gone) one.destroy()
    }
    // What was sent before its client went may still come in, and leave again; how much of it has
    // been answered by then nobody can say, for sockets hold megabytes.
    await sleep(200)
    await eventually(async () => (await openRequests()) === 0)
    await eventually(async () => (await server.metric('iprisk_pool_queue')) === 0)
    expect((await post(`${checkPath}?include=insights`, '{"ip":"9.1.2.3"}')).status).toBe(200)
  })
})

it('is computed by threads of the lowest priority, beside a loop that has it as before and short slices', async () => {
  expect(await statusOf(batchOf(Array(500).fill('9.1.2.3')))).toBe(200)
  const worker = workersOf(server)[0]!
  const threads = threadsOf(worker) ?? []
  expect(threads.filter(({ nice }) => nice === 19)).toHaveLength(2)
  expect(threads.find(({ tid }) => tid === worker)?.nice).toBe(getPriority())
  expect(hasSlices ? schedOf(worker, 'se.slice') : 100_000).toBe(100_000)
})

describe('a swap', () => {
  it('in the middle of a batch leaves it with the table that it began with', async () => {
    const old = table.id
    // The server closes a connection whose client reads nothing for ten seconds, and a busy machine
    // may need longer to verify a table: another one begins every four.
    const slow = [slowBatch(10_000)]
    await eventually(async () => (await openRequests()) === 1)
    let begunMs = performance.now()
    const next = parseDay('2026-08-25')!
    writeTable(`${file}.new`, { ...smallContent(), asOf: next })
    renameSync(`${file}.new`, file)
    const ofTable = async (): Promise<string> => {
      const response = await post(checkPath, '{"ip":"9.1.2.3"}')
      return ((await response.json()) as { table: string }).table
    }
    const fresh = await eventually(async () => {
      const id = await ofTable()
      if (id !== old) return id
      if (performance.now() - begunMs > 4000) {
        slow.at(-2)?.destroy()
        slow.push(slowBatch(10_000))
        begunMs = performance.now()
      }
      return undefined
    })
    // The last one may have begun behind the swap, the one before has not.
    const before = slow.at(-2) ?? slow[0]!
    for (const other of slow) if (other !== before) other.destroy()
    await eventually(async () => (await openRequests()) === 1)
    const begun = await post(`${checkPath}?include=insights`, '{"ip":"9.1.2.3"}')
    expect(((await begun.json()) as InsightsAnswer).insights?.table.id).toBe(fresh)
    const text = await before.read()
    expect(text.endsWith('0\r\n\r\n')).toBe(true)
    const ids = new Set([...text.matchAll(/"table":"([^"]+)"/g)].map(([, id]) => id))
    expect([...ids]).toEqual([old])
    await eventually(() => server.stderr().includes('A new table is in use'))
    // Nobody holds the old file any more: neither the worker nor a thread of its pool.
    const maps = workersOf(server).map((pid) => readFileSync(`/proc/${pid}/maps`, 'utf8'))
    const mapped = maps.join('\n').match(/\S+\.iprisk( \(deleted\))?/g) ?? []
    expect(new Set(mapped).size).toBe(1)
    expect(mapped.some((name) => name.includes('deleted'))).toBe(false)
  })
})

describe('a connection', () => {
  it('serves the next request behind a batch', async () => {
    const body = batchOf(Array(300).fill('9.1.2.3'))
    const one = `POST ${batchPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['internal']}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    let text = ''
    socket.setEncoding('latin1').on('data', (more: string) => (text += more))
    const answers = (): number => text.match(/"classification"/g)?.length ?? 0
    try {
      for (const sent of [300, 600]) {
        socket.write(one)
        await eventually(() => answers() >= sent)
      }
      expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
      expect([answers(), socket.readyState]).toEqual([600, 'open'])
    } finally {
      socket.destroy()
    }
  })
})
