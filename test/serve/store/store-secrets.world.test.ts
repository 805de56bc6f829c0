// The password of a store as a canary: through servers and command lines that take it from their
// settings or from a file, that have a wrong one, and whose store refuses, freezes and dies; then a
// search of all that they said and left behind.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type StoreServer,
  describeStores,
  startStore,
} from '../../account/stores/redis/redis-servers.ts'
import { runProgram } from '../../cli/program.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { leaksIn, leaksUnder } from '../../admin/secret-leak.ts'
import { newState, runServe, sleep } from '../server.ts'
import { eventually } from '../../eventually.ts'

const canary = 'canary+7Qp/store:password@1'
const wrong = 'another-canary-2Kd9'
const secrets = [canary, wrong]
const cwd = newState()
const table = writeSmallTable()
let store: StoreServer

describeStores('the password of a store', () => {
  beforeAll(async () => {
    store = await startStore(['--requirepass', canary], ['-a', canary, '--no-auth-warning'])
  })
  afterAll(() => store.end())

  it('is found nowhere', async () => {
    const files = newState()
    const file = (name: string, text: string): string => {
      writeFileSync(join(files, name), `${text}\n`)
      return join(files, name)
    }
    const inUrl = (password: string): string =>
      `redis://:${encodeURIComponent(password)}@127.0.0.1:${store.port}`
    const ways: readonly Readonly<Record<string, string>>[] = [
      { IPRISK_STORE: inUrl(canary) },
      { IPRISK_STORE: store.url, IPRISK_STORE_PASSWORD_FILE: file('password', canary) },
      { IPRISK_STORE_FILE: file('url', inUrl(wrong)) },
      // No address, and told so: whoever misspells it may have the password anywhere in it.
      { IPRISK_STORE: `redis//:${canary}@127.0.0.1` },
    ]
    const state = newState()
    const said: string[] = []
    const servers = ways.slice(0, 3).map((environment) => {
      const ports = ['--port', '0', '--admin-port', '0', '--workers', '1', '--log-level', 'trace']
      return runServe([...ports, '--table', table, '--state', state], environment)
    })
    const running = await Promise.all(
      servers.map(({ stderr }) =>
        eventually(
          () => /serves \S+?:(\d+) with .* on \S+?:(\d+)$/m.exec(stderr()) ?? undefined,
          60_000,
        ),
      ),
    )
    const commands = [['create', '--plan', 'team', '--json'], ['list'], ['export']]
    const ended = await Promise.all(
      ways.flatMap((environment) =>
        commands.map((command) =>
          runProgram(['keys', ...command, '--state', state], { cwd, environment }),
        ),
      ),
    )
    for (const { out, err } of ended) said.push(out, err)
    const { key } = JSON.parse(ended[0]?.out ?? '') as { key: string }
    const ask = async (times: number): Promise<void> => {
      for (const [, port] of running) {
        for (let i = 0; i < times; i += 1) {
          const response = await fetch(`http://127.0.0.1:${port}/v1/intelligence/ip-risk/check`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}` },
            body: '{"ip":"9.5.5.5"}',
          })
          said.push(await response.text())
        }
      }
    }
    await sleep(500)
    await ask(5)
    await store.cli('config', 'set', 'maxmemory', '1')
    await ask(40)
    await store.cli('config', 'set', 'maxmemory', '0')
    store.freeze()
    await ask(5)
    await sleep(500)
    store.thaw()
    await store.kill()
    await ask(5)
    const down = await runProgram(['keys', 'create', '--plan', 'team', '--state', state], {
      cwd,
      environment: ways[0] ?? {},
    })
    said.push(down.out, down.err)
    for (const [, , admin] of running) {
      for (const path of ['/metrics', '/readyz']) {
        said.push(await (await fetch(`http://127.0.0.1:${admin}${path}`)).text())
      }
    }
    for (const { child } of servers) child.kill('SIGTERM')
    await eventually(() => servers.every(({ child }) => child.exitCode !== null))
    const logs = servers.map(({ stderr }) => stderr()).join('\n')
    // All of it has happened.
    expect(logs).toMatch(/OOM/)
    expect(logs).toMatch(/cannot be reached/)
    expect(logs).toMatch(/WRONGPASS/)
    expect(said.join('\n')).toMatch(/WRONGPASS|cannot be reached/)
    expect(down.code).toBe(1)
    expect([
      ...leaksIn(secrets, 'logs', Buffer.from(logs)),
      ...leaksIn(secrets, 'said', Buffer.from(said.join('\n'))),
      ...leaksUnder(secrets, state),
    ]).toEqual([])
    // The search finds what is there.
    expect(leaksUnder(secrets, files).length).toBeGreaterThan(1)
  })
})
