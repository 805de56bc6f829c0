// What an operator changes is effective on every worker within one second: keys made, revoked and
// rotated by the command line, plans changed in the configuration. Connections that stay open ask
// all workers again and again; the last worker to change counts. Time runs from the end of the
// command, or from the moment the file is in its place.

import { Agent, request } from 'node:http'
import { readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../cli/program.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Server, newState, sleep, startServer, workersOf } from '../server.ts'
import { eventually } from '../../eventually.ts'

const workers = 3
const connections = 24
const withinMs = 1000

const folder = newState()
const config = join(folder, 'iprisk.json')
const agents = Array.from(
  { length: connections },
  () => new Agent({ keepAlive: true, maxSockets: 1 }),
)
let server: Server
let state = ''

/** One check on one connection: its status, and what the answer says of limits. */
function ask(agent: Agent, key: string): Promise<{ status: number; policy: string }> {
  return new Promise((resolve, reject) => {
    const path = '/v1/intelligence/ip-risk/check'
    const headers = { authorization: `Bearer ${key}` }
    const sent = request(
      { port: server.port, path, method: 'POST', agent, headers },
      (response) => {
        response.resume()
        response.on('end', () => {
          const policy = String(response.headers['ratelimit-policy'] ?? '')
          resolve({ status: response.statusCode ?? 0, policy })
        })
      },
    )
    sent.on('error', reject)
    sent.end('{"ip":"9.1.2.3"}')
  })
}

/** Milliseconds from now until every connection, so every worker, has answered as `done` wants. */
async function untilAll(
  key: string,
  done: (answer: { status: number; policy: string }) => boolean,
) {
  const started = performance.now()
  await Promise.all(
    agents.map(async (agent) => {
      while (!done(await ask(agent, key))) {
        if (performance.now() - started > 10_000) throw new Error('a worker has not changed')
        await sleep(5)
      }
    }),
  )
  return performance.now() - started
}

const keys = async (...args: readonly string[]): Promise<Record<string, string>> => {
  const ended = await runProgram(
    ['keys', ...args, '--json', '--state', state, '--config', config],
    {
      cwd: folder,
    },
  )
  expect(ended.code).toBe(0)
  // What changes something says which configuration it obeys.
  expect(ended.err).toMatch(/^(iprisk: settings from .*\n)?$/)
  return JSON.parse(ended.out) as Record<string, string>
}
const createKey = async (plan: string): Promise<{ id: string; key: string }> => {
  const { id = '', key = '' } = await keys('create', '--plan', plan)
  return { id, key }
}

const writeConfig = (plans: unknown): void => {
  writeFileSync(`${config}.new`, typeof plans === 'string' ? plans : JSON.stringify({ plans }))
  renameSync(`${config}.new`, config)
}
const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length

/** The first log line with those words, as soon as there is one. */
const logged = (words: string): Promise<string> =>
  eventually(() =>
    server
      .stderr()
      .split('\n')
      .find((line) => line.includes(words)),
  )

beforeAll(async () => {
  writeConfig({})
  const args = ['--config', config]
  server = await startServer({ table: writeSmallTable(), workers, args })
  state = server.state
})
afterAll(async () => {
  for (const agent of agents) agent.destroy()
  await server.stop('SIGKILL')
})

describe('on every worker within a second', () => {
  it('the connections of this test reach every worker', async () => {
    const before = workersOf(server).map(socketsOf)
    expect(before).toHaveLength(workers)
    await untilAll('none', ({ status }) => status === 401)
    for (const [i, sockets] of workersOf(server).map(socketsOf).entries()) {
      expect(sockets).toBeGreaterThan(before[i] ?? 0)
    }
  })

  it('a key is made, rotated and revoked', async () => {
    const { id, key } = await createKey('internal')
    const made = await untilAll(key, ({ status }) => status === 200)
    const { key: rotated = '' } = await keys('rotate', id)
    const rotatedIn = await untilAll(rotated, ({ status }) => status === 200)
    // Both secrets live, on every worker.
    expect(await untilAll(key, ({ status }) => status === 200)).toBeLessThan(withinMs)
    const { key: last = '' } = await keys('rotate', id, '--grace-hours', '0')
    const ended = await untilAll(rotated, ({ status }) => status === 401)
    await keys('revoke', id)
    const revoked = await untilAll(last, ({ status }) => status === 401)
    for (const ms of [made, rotatedIn, ended, revoked]) expect(ms).toBeLessThan(withinMs)
  })

  it('a plan is changed by its file, and by SIGHUP', async () => {
    const { key } = await createKey('internal')
    await untilAll(key, ({ status }) => status === 200)
    writeConfig({ internal: { rate: { perSecond: 100_000, burst: 200_000 } } })
    const byFile = await untilAll(key, ({ policy }) => policy.includes('q=200000'))
    writeConfig({ internal: { rate: { perSecond: 100_000, burst: 400_000 } } })
    // A terminal that closes sends it to every process of its group.
    const before = workersOf(server)
    for (const pid of before) process.kill(pid, 'SIGHUP')
    server.child.kill('SIGHUP')
    const bySignal = await untilAll(key, ({ policy }) => policy.includes('q=400000'))
    writeConfig({ internal: { apis: [] } })
    const closed = await untilAll(key, ({ status }) => status === 403)
    writeConfig({})
    const opened = await untilAll(key, ({ status, policy }) => status === 200 && policy === '')
    for (const ms of [byFile, bySignal, closed, opened]) expect(ms).toBeLessThan(withinMs)
    expect(server.stderr()).toContain('Changed plans are in use.')
    expect(workersOf(server)).toEqual(before)
  })

  it('but a configuration with problems changes nothing, and the log says all of them', async () => {
    const { key } = await createKey('internal')
    await untilAll(key, ({ status }) => status === 200)
    writeConfig({ internal: { apis: [] }, team: { rate: 'low', insights: 'no' } })
    const said = await logged('The configuration was rejected')
    expect(said).toContain('plans.team.rate')
    expect(said).toContain('plans.team.insights')
    // Time for what must not come of it.
    await sleep(300)
    await untilAll(key, ({ status }) => status === 200)
    writeConfig('{"plans": {')
    await eventually(() => server.stderr().includes('must be JSON'))
    expect(await untilAll(key, ({ status }) => status === 200)).toBeLessThan(withinMs)
    // And what comes after it is used again.
    writeConfig({ internal: { insights: 'never' } })
    await eventually(() => server.stderr().split('Changed plans are in use.').length > 5)
  })

  it('a worker that comes later has the plans of now, too', async () => {
    const { key } = await createKey('internal')
    writeConfig({ internal: { rate: { perSecond: 100_000, burst: 300_000 } } })
    await untilAll(key, ({ policy }) => policy.includes('q=300000'))
    const [old = 0] = workersOf(server)
    process.kill(old, 'SIGKILL')
    await eventually(() => !workersOf(server).includes(old))
    for (const agent of agents) agent.destroy()
    await eventually(async () => (await server.metric('iprisk_workers')) === workers)
    for (let i = 0; i < 24; i += 1) {
      const agent = new Agent()
      expect((await ask(agent, key)).policy).toContain('q=300000')
      agent.destroy()
    }
  })

  it('says what waits for a restart', async () => {
    writeFileSync(config, JSON.stringify({ serve: { logAddresses: true, port: 1 } }))
    const said = await logged('need a restart of the server')
    expect(said).toContain('serve.logAddresses')
    // The port was given by a flag, which wins: nothing of it has changed.
    expect(said).not.toContain('serve.port')
  })

  it('shows the day of the last use, also of keys without a quota', async () => {
    const { id, key } = await createKey('internal')
    await eventually(async () => {
      const answer = await ask(new Agent(), key)
      return answer.status === 200
    })
    const today = new Date().toISOString().slice(0, 10)
    const shown = await eventually(async () => {
      const { last_used: day } = await keys('show', id)
      return day ?? undefined
    })
    expect(shown).toBe(today)
  })
})
