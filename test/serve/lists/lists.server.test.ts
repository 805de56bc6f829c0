// Own lists on a real server with two workers: an act is in effect when its command returns, an
// entry ends to the second, batches and insights know it.

import { beforeAll, describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { runHere } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Server, keyedState, serversOfTests, sleep } from '../server.ts'
import { ask, path as checkPath } from '../checks.ts'
import { runLists } from './run-lists.ts'

const table = writeSmallTable()
const start = serversOfTests()

let state = ''
let key = ''

beforeAll(async () => {
  ;({ state, key } = await keyedState())
})

const lists = (...args: readonly string[]): Promise<string> => runLists(runHere, state, args)

const askServer = <Answer>({ port }: Server, where: string, body: object): Promise<Answer> =>
  ask({ port, key }, where, body)

const check = (server: Server, ip: string): Promise<CheckAnswer> =>
  askServer(server, checkPath, { ip })

/** Every connection may reach another worker: so many that both have answered. */
async function checkOften(server: Server, ip: string): Promise<readonly CheckAnswer[]> {
  return Promise.all(Array.from({ length: 20 }, () => check(server, ip)))
}

describe('own lists of a server', () => {
  it('are in effect when the command returns, end to the second, and can be undone', async () => {
    const server = await start({ table, state, workers: 2 })
    const before = await check(server, '9.1.2.3')
    expect(before).not.toHaveProperty('lists')
    await lists('create', 'office', '--effect', 'allow')
    await lists('create', 'attackers', '--effect', 'block')
    await lists('add', 'office', '9.1.2.3', '--note', 'ours')
    await lists('add', 'attackers', '9.0.0.0/8', 'AS64497')
    for (const answer of await checkOften(server, '9.1.2.3')) {
      expect(answer).toEqual({
        ...before,
        risk_level: 'low',
        risk_score: 0,
        reasons: [...before.reasons, 'list_allowed'],
        lists: ['attackers', 'office'],
      })
    }
    for (const answer of await checkOften(server, '11.5.5.5')) {
      expect(answer).toMatchObject({ risk_score: 100, lists: ['attackers'] })
    }
    const insights = await askServer<{ insights: { reasons: readonly { points: number }[] } }>(
      server,
      `${checkPath}?include=insights`,
      { ip: '9.5.5.5' },
    )
    expect(insights.insights.reasons.reduce((sum, { points }) => sum + points, 0)).toBe(100)
    const ips = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? '9.1.2.3' : '12.9.9.9'))
    const batch = await askServer<{ results: readonly CheckAnswer[] }>(
      server,
      `${checkPath}/batch`,
      { ips },
    )
    expect(batch.results.map((one) => one.lists?.length)).toEqual(
      ips.map((ip) => (ip === '9.1.2.3' ? 2 : undefined)),
    )
    const until = Math.ceil((Date.now() + 2000) / 1000) * 1000
    await lists('add', 'attackers', '12.9.9.9', '--for', '3s')
    expect((await check(server, '12.9.9.9')).lists).toEqual(['attackers'])
    await sleep(Math.max(0, until - Date.now() - 500))
    expect((await check(server, '12.9.9.9')).lists).toEqual(['attackers'])
    await eventually(async () => (await check(server, '12.9.9.9')).lists === undefined, 5000)
    await lists('undo', 'office')
    for (const answer of await checkOften(server, '9.1.2.3')) {
      expect(answer.lists).toEqual(['attackers'])
    }
    await lists('delete', 'attackers')
    await lists('delete', 'office')
    for (const answer of await checkOften(server, '9.1.2.3')) expect(answer).toEqual(before)
    const acts = await runHere(['keys', 'audit', '--json', '--state', state], { cwd: state })
    expect(acts.out).toContain('"act":"lists add"')
    expect(acts.out).toContain('"entries":["9.0.0.0/8","AS64497"]')
  }, 120_000)
})

describe('a copy of the state', () => {
  it('is made and put back while a server runs, with keys, lists and what was spent', async () => {
    const own = await keyedState({ limits: { quotaPerMonth: 1000 } })
    const server = await start({ table, state: own.state, workers: 1 })
    const told = async (...args: readonly string[]): Promise<string> => {
      const ended = await runHere([...args, '--state', own.state], { cwd: own.state })
      if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.err}`)
      return ended.out
    }
    const spend = async (count: number): Promise<void> => {
      const sent = { authorization: `Bearer ${own.key}` }
      const url = `http://127.0.0.1:${server.port}${checkPath}`
      for (let i = 0; i < count; i += 1) {
        const reply = await fetch(url, { method: 'POST', headers: sent, body: '{"ip":"9.1.2.3"}' })
        expect(reply.status).toBe(200)
      }
    }
    const listed = async (): Promise<unknown> => {
      const sent = { authorization: `Bearer ${own.key}` }
      const url = `http://127.0.0.1:${server.port}${checkPath}`
      const reply = await fetch(url, { method: 'POST', headers: sent, body: '{"ip":"9.1.2.3"}' })
      return ((await reply.json()) as { readonly lists?: readonly string[] }).lists
    }
    const used = async (): Promise<number> => {
      const [id = ''] = own.key.split('_').slice(1)
      const keys = JSON.parse(await told('keys', 'list', '--json')) as readonly {
        readonly id: string
        readonly usage: { readonly units_at_most: number } | null
      }[]
      return keys.find((one) => one.id === id)?.usage?.units_at_most ?? NaN
    }
    await told('lists', 'create', 'office')
    await told('lists', 'add', 'office', '9.1.2.3')
    await spend(20)
    await eventually(async () => (await used()) >= 20)
    expect(await told('state', 'backup', 'copy.jsonl')).toContain('1 keys, 1 lists')
    await told('lists', 'delete', 'office')
    await eventually(async () => (await listed()) === undefined)
    await told('state', 'restore', 'copy.jsonl')
    await eventually(async () => JSON.stringify(await listed()) === '["office"]')
    expect(await used()).toBeGreaterThanOrEqual(20)
    await spend(5)
  })
})
