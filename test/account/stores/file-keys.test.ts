// Keys of a file: what changes in it is what changes, a key that is not sound is skipped, and what is
// no file of keys changes nothing.

import { mkdtempSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { exportKeys } from '../../../src/account/keys/key-transfer.ts'
import type { KeyRecord } from '../../../src/account/keys/key-record.ts'
import { openFileKeyStore } from '../../../src/account/stores/file-keys.ts'
import type { Plans } from '../../../src/config/plan.ts'
import { readSettings } from '../../../src/config/settings.ts'
import { record } from './conformance.ts'

const cwd = mkdtempSync(join(tmpdir(), 'iprisk-key-file-'))
const plans: Plans = readSettings({ command: 'serve', flags: {}, environment: {}, cwd }).plans
let path = ''

beforeEach(() => {
  path = join(mkdtempSync(join(cwd, 'keys-')), 'keys.json')
})

const key = (name: string): KeyRecord => ({ ...record(1000, name), plan: 'internal' })

async function write(records: readonly KeyRecord[], to = path): Promise<void> {
  writeFileSync(`${to}.new`, JSON.stringify(exportKeys({ records, skipped: [] }, 5000)))
  renameSync(`${to}.new`, to)
}

describe('a file of keys', () => {
  it('gives its keys, and later what has changed', async () => {
    const [one, two, three] = [key('one'), key('two'), key('three')]
    await write([one, two])
    const store = openFileKeyStore(path, plans)
    const { version, records } = await store.changes(0)
    expect(records.map(({ name }) => name)).toEqual(['one', 'two'])
    expect((await store.changes(version)).records).toEqual([])
    await write([{ ...one, name: 'other' }, three])
    const changed = await store.changes(version)
    const named = changed.records.map(({ name, revokedAt }) => [name, revokedAt !== undefined])
    expect(Object.fromEntries(named)).toEqual({ other: false, three: false, two: true })
    expect(changed.version).toBeGreaterThan(version)
  })

  it('is followed through the symbolic links of a mounted secret', async () => {
    const target = `${path}.1`
    await write([key('one')], target)
    symlinkSync(target, path)
    const store = openFileKeyStore(path, plans)
    const { version } = await store.changes(0)
    await write([key('two')], `${path}.2`)
    symlinkSync(`${path}.2`, `${path}.link`)
    renameSync(`${path}.link`, path)
    const names = (await store.changes(version)).records.map(({ name }) => name)
    expect(names).toContain('two')
  })

  it('with a problem changes nothing, and says the same until it is another one', async () => {
    await write([key('one')])
    const store = openFileKeyStore(path, plans)
    const { version } = await store.changes(0)
    for (const act of [() => writeFileSync(path, '{"format":'), () => rmSync(path)]) {
      act()
      await expect(store.changes(version)).rejects.toMatchObject({ code: 'keys_file' })
      await expect(store.changes(version)).rejects.toMatchObject({ code: 'keys_file' })
    }
    await write([key('one'), key('two')])
    expect((await store.changes(version)).records.map(({ name }) => name)).toContain('two')
  })

  it('skips a quota, of the key or of its plan, and names the key', async () => {
    const own = { ...key('own'), limits: { quotaPerMonth: 5 } }
    const planned = { ...key('planned'), plan: 'team' }
    for (const counted of [own, planned]) {
      await write([key('one'), counted])
      const store = openFileKeyStore(path, plans)
      const { records, skipped } = await store.changes(0)
      expect(records.map(({ name }) => name)).toEqual(['one'])
      const why = expect.stringContaining('cannot share a quota')
      expect(skipped).toEqual([{ id: counted.id, why, isRevoked: false }])
    }
    const revoked = { ...planned, revokedAt: 2000 }
    await write([key('one'), revoked])
    expect((await openFileKeyStore(path, plans).changes(0)).records).toHaveLength(2)
  })

  it('skips invalid keys by id or place, and reads all others', async () => {
    const [one, two, bad, twice] = [key('one'), key('two'), key('bad'), key('twice')]
    await write([one, two, bad, twice])
    const store = openFileKeyStore(path, plans)
    const { version } = await store.changes(0)
    const file = JSON.parse(readFileSync(path, 'utf8')) as { keys: Record<string, unknown>[] }
    const [first, , third, fourth] = file.keys
    Object.assign(third!, { secrets: [{ sha256: 'hunter2', created_at: 'now' }] })
    // `two` is gone, and a key appears twice.
    const added = [null, { id: '__proto__' }, { ...first, id: 'Newnewnewnew' }, { ...fourth }]
    file.keys = [first!, third!, fourth!, ...(added as Record<string, unknown>[])]
    writeFileSync(path, JSON.stringify(file))
    const { records, skipped } = await store.changes(version)
    const told = records.map(({ id, revokedAt }) => [id, revokedAt !== undefined])
    expect(Object.fromEntries(told)).toEqual({ [two.id]: true, Newnewnewnew: false })
    expect(Object.fromEntries(skipped.map(({ id, why }) => [id, why]))).toEqual({
      [bad.id]: expect.stringMatching(/^secrets\.0\.sha256: must be 64/),
      [twice.id]: 'the file contains this id more than once',
      'keys.3': expect.stringContaining('must be an object of a key'),
      'keys.4': expect.stringContaining('must be 12 letters and digits'),
    })
    expect(JSON.stringify(skipped)).not.toContain('hunter2')
    await expect(store.get(bad.id)).rejects.toMatchObject({ code: 'key_unreadable' })
    await write([one, bad])
    const mended = await store.changes(version + 1)
    // Skipped keys that are gone become revoked, so they are no longer counted.
    const ids = [bad.id, twice.id, 'keys.3', 'keys.4', 'Newnewnewnew']
    expect(mended.records.map(({ id }) => id).sort()).toEqual(ids.sort())
    expect(mended.skipped).toEqual([])
  })

  it('is not changed from here', async () => {
    await write([key('one')])
    const store = openFileKeyStore(path, plans)
    await expect(store.create(key('two'))).rejects.toMatchObject({ code: 'keys_read_only' })
    await expect(store.update('x', (each) => each)).rejects.toThrow(/change them in that file/)
  })

  it('that is bad while a process starts leaves it the last good one', async () => {
    const state = mkdtempSync(join(cwd, 'state-'))
    await write([key('one')])
    await openFileKeyStore(path, plans, state).changes(0)
    writeFileSync(path, '{')
    const store = openFileKeyStore(path, plans, state)
    expect((await store.changes(0)).records.map(({ name }) => name)).toEqual(['one'])
    // And it is told: what is held stays, and the file is not.
    await expect(store.changes(1)).rejects.toThrow(/cannot be used/)
    await write([key('two')])
    const names = (await store.changes(1)).records.map(({ name }) => name)
    expect(names).toContain('two')
    expect(readdirSync(state)).toEqual([expect.stringMatching(/^keys-file-[0-9a-f]{8}\.json$/)])
    // Another file's keys are not these.
    const elsewhere = openFileKeyStore(`${path}.none`, plans, state)
    await expect(elsewhere.changes(0)).rejects.toThrow(/cannot be used/)
  })

  it('is kept for the next start once, however many processes read it', async () => {
    const state = mkdtempSync(join(cwd, 'state-'))
    const keptBy = async (): Promise<number> => {
      await openFileKeyStore(path, plans, state).changes(0)
      const [name = ''] = readdirSync(state)
      return statSync(join(state, name)).ino
    }
    await write([key('one')])
    const first = await keptBy()
    expect(await keptBy()).toBe(first)
    await write([key('two')])
    expect(await keptBy()).not.toBe(first)
  })

  it('is judged again by other plans', async () => {
    await write([key('one')])
    const store = openFileKeyStore(path, plans)
    const { version } = await store.changes(0)
    const counted = { ...plans, internal: { ...plans['internal']!, quotaPerMonth: 5 } }
    store.usePlans(counted)
    expect(await store.changes(version)).toMatchObject({
      records: [],
      skipped: [{ why: expect.stringContaining('cannot share a quota') }],
    })
  })
})
