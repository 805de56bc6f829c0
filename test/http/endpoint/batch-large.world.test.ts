// Batches of the largest size on a real server, many of them: every byte of their answers, and what
// they leave in memory.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { privateBytesOf } from '../../../src/base/system/process.ts'
import { batchBodyBytesMax } from '../../../src/api/public-port.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { type Server, makeKey, newState, startServer, workersOf } from '../../serve/server.ts'
import { eventually } from '../../eventually.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { expectedOf, randomText } from './batch-texts.ts'

const file = writeSmallTable()
const table = openTable(file)

let server: Server
let key = ''

beforeAll(async () => {
  const state = newState()
  key = await makeKey(state)
  server = await startServer({
    table: file,
    state,
    args: ['--pool-threads', '2', '--pool-queue', '4'],
  })
})

afterAll(() => server.stop())

/** A connection each: between two of them the twin computes for longer than one lives without use. */
function post(body: string | Uint8Array): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    body,
  })
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

describe('a batch', () => {
  it('of the largest size that says nothing leaves no memory behind', async () => {
    const body = new Uint8Array(batchBodyBytesMax).fill(0x61)
    const code = 'invalid_input'
    // Two at a time: so many of a key fit into the pool.
    const ask = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i += 1) expect(await codeOf(await post(body))).toBe(code)
    }
    await Promise.all([ask(5), ask(5)])
    const worker = workersOf(server)[0]!
    const before = privateBytesOf(worker) ?? NaN
    const left = async (times: number): Promise<number> => {
      await Promise.all([ask(times), ask(times)])
      return (privateBytesOf(worker) ?? NaN) - before
    }
    // Left to V8 nearly all of the 157 MB were there. It collects what bodies came in while it has
    // something to do, beside a busy machine late: so there are looks after further requests.
    const looks = [await left(75)]
    while (looks.at(-1)! >= 100e6 && looks.length < 10) looks.push(await left(5))
    expect(Math.min(...looks), looks.join(' ')).toBeLessThan(100e6)
  })

  it('answers 100,000 addresses byte for byte as single checks, in order', async () => {
    const before = await server.metric('iprisk_answers_total')
    let valid = 0
    let sent = 0
    for (const size of [1, 10, 99, 100, 101, 1000, 9999, ...Array(9).fill(10_000)] as number[]) {
      const texts = Array.from({ length: size }, randomText)
      const response = await post(JSON.stringify({ ips: texts }))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect((await response.text()) === expectedOf(texts, table)).toBe(true)
      valid += texts.filter((text) => table.check(text) !== undefined).length
      sent += size
    }
    expect(sent).toBeGreaterThan(100_000)
    await eventually(async () => (await server.metric('iprisk_answers_total')) >= before + valid)
    expect((await server.metric('iprisk_answers_total')) - before).toBe(valid)
    expect(await server.metric('iprisk_pool_tasks_total')).toBeGreaterThan(900)
  })
})
