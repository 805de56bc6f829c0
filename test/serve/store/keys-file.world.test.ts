// Servers with `--keys-file`: two of them know one key without a store, take changes of the file,
// keep their workers while it is broken, and say that no quota can be shared.

import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ServerStatus } from '../../../src/admin/status.ts'
import { programPath, runProgram } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { type Server, keyedState, makeKey, newState, runServe, serversOfTests } from '../server.ts'
import { newTable } from '../small-tables.ts'

const start = serversOfTests()
const table = newTable()

function exportOf(state: string, to: string): void {
  const args = [programPath, 'keys', 'export', '--state', state]
  writeFileSync(
    `${to}.new`,
    execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  renameSync(`${to}.new`, to)
}

async function codeOf(port: number, key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"ip":"9.1.2.3"}',
  })
  await response.arrayBuffer()
  return response.status
}

async function workerPids(server: Server): Promise<readonly number[]> {
  const status = JSON.parse((await server.admin('/status')).text) as ServerStatus
  return status.workers.each.map(({ pid }) => pid)
}

describe('--keys-file', () => {
  it('gives two servers the same keys, as they change', async () => {
    const { state, key } = await keyedState()
    const file = join(newState(), 'keys.json')
    exportOf(state, file)
    const both = await Promise.all([1, 2].map(() => start({ table, args: ['--keys-file', file] })))
    for (const { port } of both) expect(await codeOf(port, key)).toBe(200)
    expect(both[0]!.stderr()).toContain('keys with a quota are skipped')
    const second = await makeKey(state)
    for (const { port } of both) expect(await codeOf(port, second)).toBe(401)
    exportOf(state, file)
    for (const { port } of both) await eventually(async () => (await codeOf(port, second)) === 200)
    // A file with a mistake in it changes nothing.
    writeFileSync(file, '{')
    await eventually(() => both[0]!.stderr().includes('The keys cannot be read'))
    for (const { port } of both) expect(await codeOf(port, second)).toBe(200)
  })

  it('replaces no worker while the file is broken, and says what is wrong with it', async () => {
    const { state, key } = await keyedState()
    const file = join(newState(), 'keys.json')
    exportOf(state, file)
    const server = await start({ table, args: ['--keys-file', file] })
    const restart = () => {
      const at = ['--state', server.state, '--port', String(server.port)]
      return runProgram(['restart', ...at], { cwd: newState() })
    }
    const pids = await workerPids(server)
    writeFileSync(file, '{"format":"iprisk-keys"}')
    const refused = await restart()
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(`The keys in ${file} cannot be used`)
    server.child.kill('SIGUSR2')
    // A worker says that it cannot read them, the primary what is wrong.
    await eventually(() => server.stderr().includes(`"msg":"The keys in ${file} cannot be used`))
    expect(await workerPids(server)).toEqual(pids)
    expect(await codeOf(server.port, key)).toBe(200)
    exportOf(state, file)
    expect(await restart()).toMatchObject({ code: 0 })
    expect(await workerPids(server)).not.toEqual(pids)
    expect(await codeOf(server.port, key)).toBe(200)
  })

  it('does not start with a key that has a quota, and says which', async () => {
    const { state, key } = await keyedState({ plan: 'team' })
    const file = join(newState(), 'keys.json')
    exportOf(state, file)
    const args = ['--port', '0', '--admin-port', '0', '--table', table, '--keys-file', file]
    const { child, stderr } = runServe(args)
    await once(child, 'exit')
    expect(child.exitCode).toBe(1)
    expect(stderr()).toContain('a keys file cannot share a quota between machines')
    expect(stderr()).toContain(key.split('_')[1])
  })
})
