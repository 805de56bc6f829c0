// A server over a state folder in which some rows are damaged: their keys get 401, all else goes on,
// and commands, log and metrics report what is wrong and what to do.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { changeChunks, writeRecord } from '../account/stores/write-row.ts'
import { type Ended, runHere } from '../cli/program.ts'
import { eventually } from '../eventually.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { ask, check, path as checkPath } from './checks.ts'
import { type Server, keyedState, makeKey, newState, serversOfTests } from './server.ts'

const table = writeSmallTable()
const start = serversOfTests()

const idOf = (key: string): string => key.split('_')[1] ?? ''
const skippedLines = (server: Server): readonly string[] =>
  server
    .stderr()
    .split('\n')
    .filter((line) => line.includes('is invalid, so the key gets 401'))

describe('an invalid key record', () => {
  it('is skipped by name, while others are created and revoked', async () => {
    const { state, key: bad } = await keyedState()
    const revoked = await makeKey(state)
    const run = (...args: readonly string[]): Promise<Ended> =>
      runHere([...args, '--state', state], { cwd: state })
    expect((await run('state', 'backup', 'copy')).code).toBe(0)
    const server = await start({ table, state })
    expect([await check(server.port, bad), await check(server.port, revoked)]).toEqual([200, 200])
    await writeRecord(state, idOf(bad), `{"id":"${idOf(bad)}","name":"hunter2"}`)
    await eventually(async () => (await check(server.port, bad)) === 401)
    const { code, err } = await run('keys', 'revoke', idOf(revoked))
    expect([code, err]).toEqual([0, expect.not.stringContaining('has not said')])
    expect(await check(server.port, revoked)).toBe(401)
    const made = JSON.parse((await run('keys', 'create', '--plan', 'internal', '--json')).out)
    expect(await check(server.port, (made as { readonly key: string }).key)).toBe(200)

    // Metrics and status report it, and the log once.
    await eventually(async () => (await server.metric('iprisk_keys_skipped')) === 1)
    expect(await server.metric('iprisk_store_up')).toBe(1)
    expect(JSON.parse((await server.admin('/status')).text)).toMatchObject({
      store: { up: true, keys_skipped: 1 },
    })
    expect(JSON.parse((await server.admin('/admin/keys')).text)).toMatchObject({
      skipped: [expect.stringContaining(idOf(bad))],
    })
    expect(skippedLines(server)).toEqual([
      expect.stringContaining(`of key ${idOf(bad)} is invalid`),
    ])
    const told = ['--table', table, '--admin-port', String(server.adminPort)]
    expect((await run('doctor', ...told)).out).toContain('[keys_skipped]')
    expect((await run('info', ...told)).out).toContain('1 invalid key record:')
    const listed = await run('keys', 'list')
    expect(listed.code).toBe(0)
    expect(listed.err).toMatch(new RegExp(`key ${idOf(bad)} is invalid.*\\n.*restore FILE`))
    for (const text of [server.stderr(), listed.err]) expect(text).not.toContain('hunter2')
    const shown = await run('keys', 'show', idOf(bad))
    expect([shown.code, shown.err]).toEqual([1, expect.stringContaining('is invalid')])
    // A copy without the key would take the place of the one that has it.
    const before = readFileSync(join(state, 'copy'))
    const backup = await run('state', 'backup', 'copy')
    expect([backup.code, backup.err]).toEqual([1, expect.stringContaining(idOf(bad))])
    expect(readFileSync(join(state, 'copy'))).toEqual(before)

    const restored = await run('state', 'restore', 'copy')
    expect([restored.code, restored.err]).toEqual([0, expect.stringContaining(idOf(bad))])
    expect([await check(server.port, bad), await check(server.port, revoked)]).toEqual([200, 401])
    await eventually(async () => (await server.metric('iprisk_keys_skipped')) === 0)
    expect(skippedLines(server)).toHaveLength(1)

    await writeRecord(state, idOf(bad), '{')
    await eventually(async () => (await check(server.port, bad)) === 401)
    expect(await run('keys', 'revoke', idOf(bad))).toMatchObject({ code: 0 })
    await eventually(async () => (await server.metric('iprisk_keys_skipped')) === 0)
    expect(await run('keys', 'audit')).toMatchObject({ code: 0 })
    expect((await run('keys', 'list')).err).toBe('')
    const exported = JSON.parse((await run('keys', 'export')).out) as { readonly keys: object[] }
    expect(exported.keys).toHaveLength(2)
  })

  it('of a key in a file is skipped, too, also by a server that starts with it', async () => {
    const { state, key } = await keyedState()
    const bad = await makeKey(state)
    const { out } = await runHere(['keys', 'export', '--state', state], { cwd: state })
    const file = join(newState(), 'keys.json')
    writeFileSync(file, out.replace(/("sha256": ")(?![^]*"sha256")../, '$1'))
    const server = await start({ table, args: ['--keys-file', file] })
    // Which of the two is the last one of the file.
    const statuses = [await check(server.port, key), await check(server.port, bad)]
    expect(new Set(statuses)).toEqual(new Set([200, 401]))
    expect(await server.metric('iprisk_keys_skipped')).toBe(1)
    writeFileSync(file, out)
    await eventually(async () => (await check(server.port, bad)) === 200)
    expect(await check(server.port, key)).toBe(200)
  })
})

describe('a list with a chunk that is lost', () => {
  it('leaves the readable parts in use at a start, is reported, and is fixed by a restore', async () => {
    const { state, key } = await keyedState()
    const run = (...args: readonly string[]): Promise<Ended> =>
      runHere([...args, '--state', state], { cwd: state })
    for (const [name, entry] of [
      ['attackers', '9.9.9.9'],
      ['others', '9.1.1.1'],
    ] as const) {
      await run('lists', 'create', name, '--effect', 'block')
      await run('lists', 'add', name, entry)
    }
    expect((await run('state', 'backup', 'copy')).code).toBe(0)
    await changeChunks(state, (text) => (text.startsWith('409090909') ? undefined : text))
    const server = await start({ table, state })
    const listsOf = async (ip: string): Promise<unknown> =>
      (await ask<CheckAnswer>({ port: server.port, key }, checkPath, { ip })).lists
    expect([await listsOf('9.9.9.9'), await listsOf('9.1.1.1')]).toEqual([undefined, ['others']])
    const named = expect.stringMatching(
      /The list attackers cannot be read: its chunk \S+ is not in/,
    )
    expect(JSON.parse((await server.admin('/status')).text)).toMatchObject({
      lists: { failure: named, entries: 1 },
    })
    expect(await server.metric('iprisk_lists_refused')).toBe(1)
    expect(server.stderr()).toContain('The readable parts of damaged own lists are in use.')
    const told = ['--table', table, '--admin-port', String(server.adminPort)]
    expect((await run('doctor', ...told)).out).toMatch(/The list attackers.*\[lists_refused\]/)
    const backup = await run('state', 'backup', 'copy')
    expect([backup.code, backup.err]).toEqual([1, named])
    expect(await run('state', 'restore', 'copy')).toMatchObject({ code: 0 })
    await eventually(async () => (await server.metric('iprisk_lists_refused')) === 0)
    expect(await listsOf('9.9.9.9')).toEqual(['attackers'])
  })
})
