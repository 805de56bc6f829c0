// Own lists that change: answers stay whole under load, and nothing that was acknowledged is lost
// when workers or the primary are killed.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { runProgram } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Server, keyedState, serversOfTests, sleep, workersOf } from '../server.ts'
import { ask, path as checkPath } from '../checks.ts'
import { runLists } from './run-lists.ts'

const table = writeSmallTable()
const start = serversOfTests()

let state = ''
let key = ''

beforeAll(async () => {
  ;({ state, key } = await keyedState())
})

const lists = (...args: readonly string[]): Promise<string> => runLists(runProgram, state, args)

const askServer = <Answer>({ port }: Server, where: string, body: object): Promise<Answer> =>
  ask({ port, key }, where, body)

const check = (server: Server, ip: string): Promise<CheckAnswer> =>
  askServer(server, checkPath, { ip })

/** A machine that is busy with other things must not make a busy worker a hung one. */
const args = ['--hang-ms', '20000']

describe('own lists that change', () => {
  it('give whole answers while they change under load', async () => {
    const server = await start({ table, state, workers: 2, args })
    await lists('create', 'swing', '--effect', 'block')
    const plain = await check(server, '9.5.5.5')
    await lists('add', 'swing', '9.0.0.0/8')
    const listed = await check(server, '9.5.5.5')
    const known = new Set([JSON.stringify(plain), JSON.stringify(listed)])
    expect(known.size).toBe(2)
    const end = new AbortController()
    let answers = 0
    const strange: string[] = []
    const load = Array.from({ length: 8 }, async () => {
      while (!end.signal.aborted) {
        const single = JSON.stringify(await check(server, '9.5.5.5'))
        if (!known.has(single)) strange.push(single)
        const { results } = await askServer<{ results: readonly CheckAnswer[] }>(
          server,
          `${checkPath}/batch`,
          {
            ips: Array.from({ length: 300 }, () => '9.5.5.5'),
          },
        )
        const texts = new Set(results.map((one) => JSON.stringify(one)))
        // One request knows one state of the lists.
        if (texts.size !== 1) strange.push([...texts].join(' and '))
        for (const text of texts) if (!known.has(text)) strange.push(text)
        answers += 1
      }
    })
    for (let i = 0; i < 6; i += 1) {
      await lists('remove', 'swing', '9.0.0.0/8')
      await lists('add', 'swing', '9.0.0.0/8')
    }
    end.abort()
    await Promise.all(load)
    expect(server.stderr()).not.toContain('replaced')
    expect(strange).toEqual([])
    expect(answers).toBeGreaterThan(20)
    expect(await server.metric('iprisk_requests_total', 'code="500"')).toBe(0)
    await lists('delete', 'swing')
  }, 120_000)

  it('lose nothing that was acknowledged when workers and primaries are killed', async () => {
    await lists('create', 'kept')
    const acknowledged: string[] = []
    let server = await start({ table, state, workers: 2, args })
    let next = 0
    const end = new AbortController()
    const writing = (async () => {
      while (!end.signal.aborted) {
        next += 1
        const entry = `12.0.${next >> 8}.${next & 255}`
        const ended = await runProgram(['lists', 'add', 'kept', entry, '--state', state], {
          cwd: state,
        })
        if (ended.code === 0) acknowledged.push(entry)
      }
    })()
    for (let i = 0; i < 4; i += 1) {
      await sleep(400)
      if (i % 2 === 0) for (const pid of workersOf(server)) process.kill(pid, 'SIGKILL')
      else {
        await server.stop('SIGKILL')
        server = await start({ table, state, workers: 2, args })
      }
    }
    end.abort()
    await writing
    expect(acknowledged.length).toBeGreaterThan(2)
    for (const entry of acknowledged) {
      await eventually(
        async () => (await check(server, entry).catch(() => undefined))?.lists,
        10_000,
      )
    }
    const exported = (await lists('export', 'kept')).split('\n')
    expect(acknowledged.filter((entry) => !exported.includes(entry))).toEqual([])
    const log = readFileSync(join(state, 'audit.log'), 'utf8')
    for (const entry of acknowledged) expect(log).toContain(`"${entry}"`)
  }, 180_000)
})
