// A disk that is full while a server takes in a new table: the old one goes on answering, the
// reason is in the log, nothing half-written stays, and when there is room again the next table is
// used. And while it leases quota: what cannot be kept is refused, and no worker ends of it. Needs
// the right to mount a tmpfs; without it nothing can be shown, and that is said; where CI is set it
// is a failure.

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeKey, newState, startServer, workersOf } from '../serve/server.ts'
import { converse } from '../http/raw-socket.ts'
import { otherTable } from '../serve/small-tables.ts'
import { type Ended, runProgram } from '../cli/program.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { wordsOf } from './framing-cases.ts'
import { eventually } from '../eventually.ts'

const state = join(newState(), 'state')
mkdirSync(state)

/** Room for a few copies of the small table, until ballast takes it. */
const mounted = ((): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'none', state], { stdio: 'pipe' })
    return true
  } catch (thrown) {
    if (process.env['CI'] !== undefined) throw thrown
    return false
  }
})()

afterAll(() => {
  if (mounted) execFileSync('umount', ['-l', state], { stdio: 'pipe' })
})

it.skipIf(!mounted)('a table that finds no room is refused, and the old one answers', async () => {
  const table = join(newState(), 'world.iprisk')
  copyFileSync(writeSmallTable(), table)
  const server = await startServer({ table, state })
  const key = await makeKey(state)
  const answers = async (): Promise<boolean> =>
    (await converse(server.port, [wordsOf(key, 'x').honest])).text.startsWith('HTTP/1.1 200 ')
  const renew = (day: string): void => {
    copyFileSync(otherTable(day), `${table}.next`)
    renameSync(`${table}.next`, table)
  }
  try {
    await eventually(answers)
    const ballast = join(state, 'ballast')
    expect(() => fill(ballast)).toThrow('ENOSPC')
    renew('2026-08-23')
    await eventually(() =>
      /new table is not used.*cannot be copied into .*serving.*ENOSPC.*\. The previous one stays in use/.test(
        server.stderr(),
      ),
    )
    expect(await answers()).toBe(true)
    const copies = readdirSync(join(state, 'serving'))
    expect(copies.filter((name) => name.endsWith('.part'))).toEqual([])
    expect(copies).toHaveLength(1)
    rmSync(ballast)
    renew('2026-08-24')
    await eventually(() => server.stderr().includes('A new table is in use.'))
    expect(await answers()).toBe(true)
  } finally {
    await server.stop()
  }
})

it.skipIf(!mounted)('a lease that finds no room is a 503, and no worker ends of it', async () => {
  const server = await startServer({ table: writeSmallTable(), state })
  const key = await makeKey(state, { limits: { quotaPerMonth: 1000 } })
  const ballast = join(state, 'ballast')
  const status = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{"ip":"9.5.5.5"}',
    })
    await response.arrayBuffer()
    return response.status
  }
  try {
    // A worker notes the first use of a key too: that finds no room either.
    expect(() => fill(ballast)).toThrow('ENOSPC')
    const workers = workersOf(server)
    await eventually(async () => (await status()) !== 401)
    for (let look = 0; look < 5; look += 1) expect(await status()).toBe(503)
    expect(workersOf(server)).toEqual(workers)
    expect(server.stderr()).not.toContain('Node.js v')
    rmSync(ballast)
    await eventually(async () => (await status()) === 200)
    expect(workersOf(server)).toEqual(workers)
  } finally {
    rmSync(ballast, { force: true })
    await server.stop()
  }
})

it.skipIf(!mounted)('a key that finds no room is no defect of the program', async () => {
  const make = (): Promise<Ended> =>
    runProgram(['keys', 'create', '--plan', 'team', '--state', state], { cwd: newState() })
  expect((await make()).code).toBe(0)
  const ballast = join(state, 'ballast')
  try {
    expect(() => fill(ballast)).toThrow('ENOSPC')
    // What the store has freed of its file is enough for some keys more; the audit log, which is
    // written first, finds room each time.
    let made = await make()
    for (let more = 0; more < 30 && made.code === 0; more += 1) {
      truncateSync(join(state, 'audit.log'))
      made = await make()
    }
    expect([made.code, made.out]).toEqual([1, ''])
    expect(made.err).toContain('iprisk: the disk failed: ')
    expect(made.err).not.toContain('    at ')
  } finally {
    rmSync(ballast, { force: true })
  }
})

/** Writes until nothing more fits, which throws. */
function fill(path: string): never {
  const megabyte = Buffer.alloc(1 << 20, 1)
  for (;;) writeFileSync(path, megabyte, { flag: 'a' })
}
