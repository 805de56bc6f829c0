// What a worker opens when it takes the place of one that died: compiled lists, the copy of the
// table, the stores. What is damaged or gone by then is made again, or keeps the worker out and is in
// the log; it never answers without it.

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runHere } from '../../cli/program.ts'
import { eventually } from '../../eventually.ts'
import { check, path as checkPath, tableId } from '../checks.ts'
import { runLists } from '../lists/run-lists.ts'
import { type Server, keyedState, serversOfTests, workersOf } from '../server.ts'
import { newTable, replaceTable } from '../small-tables.ts'

const start = serversOfTests()

const damages: Readonly<Record<string, (path: string) => void>> = {
  removed: (path) => rmSync(path),
  'cut off': (path) => replace(path, readFileSync(path).subarray(0, 200)),
  changed: (path) => {
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1]! ^= 1
    replace(path, bytes)
  },
}

/** By another file: those that have the old one mapped go on with it. */
function replace(path: string, bytes: Uint8Array): void {
  writeFileSync(`${path}.new`, bytes)
  renameSync(`${path}.new`, path)
}

function workers(server: Server): readonly number[] {
  return workersOf(server).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker-main')
    } catch {
      return false // It has ended.
    }
  })
}

/** A worker that died and was replaced could have answered by now. */
async function replaceWorkers(server: Server): Promise<void> {
  for (const pid of workers(server)) process.kill(pid, 'SIGKILL')
  await eventually(async () => (await server.admin('/readyz')).status === 503)
}

/** The newest one that is called `…NAME<number>.iprisk`. */
function servingFile(server: Server, name: '-' | '-lists-'): string {
  const folder = join(server.state, 'serving')
  const form = new RegExp(`^\\w+-\\d+${name}(\\d+)\\.iprisk$`)
  const numbered = readdirSync(folder).flatMap((file) => {
    const number = form.exec(file)?.[1]
    return number === undefined ? [] : [{ file, number: Number(number) }]
  })
  return join(folder, numbered.toSorted((a, b) => b.number - a.number)[0]!.file)
}

async function listsOf({ port }: Server, key: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${checkPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    body: '{"ip":"9.9.9.9"}',
  }).catch(() => undefined)
  if (response?.status !== 200) return response?.status ?? 0
  return ((await response.json()) as { readonly lists?: unknown }).lists ?? 'none'
}

/** What a client is told from now on, until it is what it should be. */
async function seenUntil(
  wanted: string,
  ask: () => Promise<unknown>,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  await eventually(async () => {
    const answer = JSON.stringify(await ask())
    seen.add(answer)
    return answer === wanted
  })
  return seen
}

async function order(server: Server, ...words: readonly string[]): ReturnType<typeof runHere> {
  const at = ['--port', String(server.port), '--state', server.state]
  return runHere([...words, ...at], { cwd: server.state })
}

describe('own lists', () => {
  it('are recompiled before a worker answers if the compiled file is lost', async () => {
    const { state, key } = await keyedState()
    await runLists(runHere, state, ['create', 'attackers', '--effect', 'block'])
    await runLists(runHere, state, ['add', 'attackers', '9.9.9.9'])
    const server = await start({ table: newTable(), state })
    for (const [what, damage] of Object.entries(damages)) {
      expect(await listsOf(server, key)).toEqual(['attackers'])
      damage(servingFile(server, '-lists-'))
      for (const pid of workers(server)) process.kill(pid, 'SIGKILL')
      const seen = await seenUntil('["attackers"]', () => listsOf(server, key))
      expect([what, [...seen].filter((answer) => answer !== '0')]).toEqual([
        what,
        ['["attackers"]'],
      ])
    }
    expect(server.stderr()).toContain(
      'The compiled own lists are missing or were changed; they are being recompiled.',
    )
    expect((await server.admin('/status')).text).toContain('"failure":""')
  }, 120_000)

  it('that cannot be read keep a starting server from answering, and are reported', async () => {
    const { state, key } = await keyedState()
    await runLists(runHere, state, ['create', 'attackers', '--effect', 'block'])
    await runLists(runHere, state, ['add', 'attackers', '9.9.9.9'])
    const data = join(state, 'lists', 'data.mdb')
    const kept = readFileSync(data)
    truncateSync(data, 100)
    const server = await start({ table: newTable(), state })
    expect(await listsOf(server, key)).toBe(503)
    const ready = await server.admin('/readyz')
    expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('no_lists')])
    expect(server.stderr()).toContain('The own lists are not loaded, so checks get 503: ')
    expect(await server.metric('iprisk_ready')).toBe(0)
    writeFileSync(data, kept)
    const seen = await seenUntil('["attackers"]', () => listsOf(server, key))
    expect([...seen]).not.toContain('"none"')
    expect((await server.admin('/readyz')).status).toBe(200)
  })
})

describe('the copy of the table', () => {
  it('is replaced if it is lost, and the previous table survives a restart', async () => {
    const { state, key } = await keyedState()
    const table = newTable()
    const server = await start({ table, state })
    const id = await tableId(server.port, key)
    for (const [what, damage] of Object.entries(damages)) {
      damage(servingFile(server, '-'))
      await replaceWorkers(server)
      const seen = await seenUntil('200', () => check(server.port, key))
      expect([what, [...seen].filter((answer) => answer !== '0')]).toEqual([what, ['200']])
      expect(await tableId(server.port, key)).toBe(id)
    }
    expect(server.stderr()).toContain('The copy of the table in use is damaged or missing.')

    // In place, which no worker has found yet.
    const copy = openSync(servingFile(server, '-'), 'r+')
    writeSync(copy, 'damaged', 2_000_000)
    closeSync(copy)
    const reload = await order(server, 'reload')
    expect([reload.code, reload.out]).toEqual([0, expect.stringMatching(/ is in use\.$/m)])
    expect(server.stderr()).toContain('It was not compared with the table in use: ')
    expect((await order(server, 'reload')).out).toMatch(/is already in use\.$/m)

    replaceTable(table, '2026-08-23')
    expect((await order(server, 'reload')).code).toBe(0)
    const second = await tableId(server.port, key)
    expect(await server.stop()).toBe(0)
    const next = await start({ table, state })
    expect(await tableId(next.port, key)).toBe(second)
    expect(await order(next, 'rollback')).toMatchObject({ code: 0 })
    expect(await tableId(next.port, key)).toBe(id)
  }, 120_000)
})

describe('a store that is gone', () => {
  it.each(['keys', 'quota'])('of %s is not recreated by a worker', async (store) => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), state })
    rmSync(join(state, store), { recursive: true })
    await replaceWorkers(server)
    await eventually(() => server.stderr().includes('data.mdb is missing'))
    expect(await check(server.port, key)).toBe(0)
    expect(existsSync(join(state, store))).toBe(false)
  })

  it('of rates is, and the log says what that means', async () => {
    const { state, key } = await keyedState()
    const server = await start({ table: newTable(), state })
    rmSync(join(state, 'rates'), { recursive: true })
    await replaceWorkers(server)
    await eventually(async () => (await check(server.port, key)) === 200)
    expect(server.stderr()).toContain('was missing and was recreated')
  })
})
