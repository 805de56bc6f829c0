// The audit log under what happens to it: many command lines at once, killed ones, a piece of a
// line, a file that cannot be written, and what `keys audit` makes of it. Those that come at once
// and the killed ones are processes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type AuditEntry, auditLogPath } from '../../../src/audit/audit-log.ts'
import { openLmdbKeyStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { newFolder, programPath, runHere, runProgram } from '../program.ts'

const auditOf = async (cwd: string, ...more: readonly string[]): Promise<readonly AuditEntry[]> => {
  const { out } = await runHere(['keys', 'audit', '--json', ...more], { cwd })
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditEntry)
}
const kills = 20
const fileOf = (cwd: string): string => auditLogPath(join(cwd, 'data/state'))

describe('the audit log', () => {
  it('has every act of many command lines at once, none inside another', async () => {
    const cwd = newFolder()
    const create = ['keys', 'create', '--plan', 'team', '--json', '--name', 'n'.repeat(100)]
    const ended = await Promise.all(Array.from({ length: 16 }, () => runProgram(create, { cwd })))
    const ids = ended.map(({ out }) => (JSON.parse(out) as { id: string }).id)
    const lines = readFileSync(fileOf(cwd), 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { step: string }).step).sort()).toEqual([
      ...Array<string>(16).fill('begin'),
      ...Array<string>(16).fill('done'),
    ])
    const entries = await auditOf(cwd)
    expect(new Set(entries.map(({ changes }) => changes[0]?.key))).toEqual(new Set(ids))
    expect(entries).toHaveLength(16)
    for (const entry of entries) {
      expect(entry).toMatchObject({ act: 'create', result: 'done', uid: process.getuid?.() })
      expect(entry.user).not.toBe('')
    }
    expect(statSync(fileOf(cwd)).mode & 0o777).toBe(0o600)
    expect(await auditOf(cwd, '--last', '5')).toEqual(entries.slice(-5))
  })

  it('has begun every act that changed a key, wherever a kill -9 came', async () => {
    const cwd = newFolder()
    await runHere(['keys', 'create', '--plan', 'team'], { cwd })
    for (let i = 0; i < kills; i += 1) {
      const args = [programPath, 'keys', 'create', '--plan', 'team']
      const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' })
      const size = statSync(fileOf(cwd)).size
      // At its first sign of life, and up to 10 ms later: amid the act, for it lasts that long.
      while (statSync(fileOf(cwd)).size === size && child.exitCode === null) await sleep(1)
      await sleep((i * 10) / kills)
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    const entries = await auditOf(cwd, '--last', '1000')
    const store = await openLmdbKeyStore(join(cwd, 'data/state'))
    const { records: keys } = await store.list()
    await store.close()
    expect(entries).toHaveLength(kills + 1)
    const told = new Set(entries.flatMap(({ changes }) => changes.map(({ key }) => key)))
    const untold = keys.filter(({ id }) => !told.has(id))
    const unknown = entries.filter(({ result }) => result === 'unknown')
    expect(untold.length).toBeLessThanOrEqual(unknown.length)
    for (const id of told) expect(keys.map((key) => key.id)).toContain(id)
    // Else no kill came in between, and this has shown nothing.
    expect(unknown.length).toBeGreaterThan(0)
  })

  it('goes on after a piece of a line, and says how many there are', async () => {
    const cwd = newFolder()
    await runHere(['keys', 'create', '--plan', 'team'], { cwd })
    appendFileSync(fileOf(cwd), '{"act_id":"x","step":"be')
    await runHere(['keys', 'create', '--plan', 'free'], { cwd })
    expect(await auditOf(cwd)).toHaveLength(2)
    const { out } = await runHere(['keys', 'audit'], { cwd })
    expect(out).toContain('left by killed processes: 1.')
    expect(out).toMatch(/ create {2}done {4}[0-9A-Za-z]{12} {2}plan free\n/)
  })

  it('tells what failed and what changed', async () => {
    const cwd = newFolder()
    const { out } = await runHere(['keys', 'create', '--plan', 'team', '--json'], { cwd })
    const { id } = JSON.parse(out) as { id: string }
    await runHere(['keys', 'rotate', id], { cwd })
    await runHere(['keys', 'revoke', id], { cwd })
    expect((await runHere(['keys', 'rotate', id], { cwd })).code).toBe(1)
    const [, rotated, revoked, failed] = await auditOf(cwd)
    expect(rotated?.changes[0]?.after.secrets).toHaveLength(2)
    expect(revoked?.changes[0]?.before?.revoked_at).toBeNull()
    expect(failed).toMatchObject({
      act: 'rotate',
      keys: [id],
      result: 'failed',
      code: 'key_not_live',
    })
  })

  it('is written before anything is done: without it nothing is', async () => {
    const cwd = newFolder()
    mkdirSync(join(cwd, 'data/state'), { recursive: true })
    mkdirSync(fileOf(cwd))
    const { code, err } = await runHere(['keys', 'create', '--plan', 'team'], { cwd })
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('Changes that cannot be recorded are not made'),
    ])
    expect((await runHere(['keys', 'list', '--json'], { cwd })).out).toBe('[]\n')
  })
})

describe('export and import', () => {
  it('take keys to another folder, by a file and by a pipe', async () => {
    const [one, other] = [newFolder(), newFolder()]
    for (const plan of ['team', 'free']) {
      await runHere(['keys', 'create', '--plan', plan], { cwd: one })
    }
    const exported = (await runHere(['keys', 'export'], { cwd: one })).out
    writeFileSync(join(other, 'keys.json'), exported)
    const imported = await runHere(['keys', 'import', 'keys.json', '--json'], { cwd: other })
    expect(JSON.parse(imported.out)).toEqual({ created: 2, replaced: 0, unchanged: 0 })
    const piped = await runProgram(['keys', 'import', '-'], { cwd: other, input: exported })
    expect(piped.out).toBe('Imported: 0 new, 0 replaced, 2 unchanged.\n')
    const list = ['keys', 'list', '--json']
    const [here, there] = [await runHere(list, { cwd: one }), await runHere(list, { cwd: other })]
    expect(there.out).toBe(here.out)
  })

  it('tell every problem and every conflict, and then change nothing', async () => {
    const cwd = newFolder()
    await runHere(['keys', 'create', '--plan', 'team'], { cwd })
    const exported = (await runHere(['keys', 'export'], { cwd })).out
    writeFileSync(join(cwd, 'bad.json'), exported.replace('"team"', '"teem"').replace('1,', '2,'))
    const bad = await runHere(['keys', 'import', 'bad.json'], { cwd })
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('version = 2')])
    writeFileSync(join(cwd, 'other.json'), exported.replace('"team"', '"free"'))
    const conflict = await runHere(['keys', 'import', 'other.json'], { cwd })
    expect([conflict.code, conflict.err]).toEqual([1, expect.stringContaining('differs in plan')])
    expect((await runHere(['keys', 'export'], { cwd })).out).toContain('"team"')
    expect((await runHere(['keys', 'import', 'other.json', '--replace'], { cwd })).code).toBe(0)
    expect((await runHere(['keys', 'export'], { cwd })).out).toContain('"free"')
    expect((await runHere(['keys', 'import', 'gone.json'], { cwd })).err).toContain('gone.json')
  })
})
