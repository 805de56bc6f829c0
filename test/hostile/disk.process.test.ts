// A disk that is full while a server takes in a new table: the old one goes on answering, the reason
// is in the log, nothing half-written stays, and when there is room again the next table is used.
// Needs the right to mount a tmpfs; without it nothing can be shown, and that is said.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeKey, newState, startServer, waitFor } from '../server/server.ts'
import { converse } from '../server/socket.ts'
import { otherTable } from '../server/tables.ts'
import { writeSmallTable } from '../table/small.ts'
import { wordsOf } from './cases.ts'

const state = join(newState(), 'state')
mkdirSync(state)

/** Room for a few copies of the small table, until ballast takes it. */
const mounted = ((): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'none', state], { stdio: 'pipe' })
    return true
  } catch {
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
    await waitFor(async () => ((await answers()) ? true : undefined))
    const ballast = join(state, 'ballast')
    expect(() => fill(ballast)).toThrow('ENOSPC')
    renew('2026-08-23')
    await waitFor(() => (/new table is not used.*ENOSPC/.test(server.stderr()) ? true : undefined))
    expect(await answers()).toBe(true)
    const copies = readdirSync(join(state, 'serving'))
    expect(copies.filter((name) => name.endsWith('.part'))).toEqual([])
    expect(copies).toHaveLength(1)
    rmSync(ballast)
    renew('2026-08-24')
    await waitFor(() => (server.stderr().includes('A new table answers.') ? true : undefined))
    expect(await answers()).toBe(true)
  } finally {
    await server.stop()
  }
})

/** Writes until nothing more fits, which throws. */
function fill(path: string): never {
  const megabyte = Buffer.alloc(1 << 20, 1)
  for (;;) writeFileSync(path, megabyte, { flag: 'a' })
}
