// The audit log where things end badly: a disk that is full before an act, or in the middle of it,
// and a store that was asked and did not answer. A link in the file's place, which is not followed, stands
// for every reason why it cannot be written.

import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { auditLogPath, readAuditLog } from '../../src/audit/audit-log.ts'
import { withAudit } from '../../src/account/keys/audited-keys.ts'
import { createKey, rotateKey } from '../../src/account/keys/issue-key.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import type { KeyStore } from '../../src/account/keys/key-store.ts'
import { IpriskError } from '../../src/base/coded-error.ts'

const now = Date.UTC(2026, 7, 22)
const team = { name: 'a', plan: 'team', apis: ['ip-risk'] } as const
let state = ''
let store: KeyStore
let told: IpriskError[] = []

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-audit-'))
  store = await openLmdbKeyStore(state)
  told = []
})
afterEach(async () => {
  await store.close()
  rmSync(state, { recursive: true })
})

const onUnwritten = (error: IpriskError): void => void told.push(error)
const file = (): string => auditLogPath(state)
function blockFile(): void {
  renameSync(file(), `${file()}.before`)
  symlinkSync('/dev/full', file())
}
function unblockFile(): void {
  renameSync(`${file()}.before`, file())
}
const unknown = new IpriskError({
  code: 'store_unknown',
  message: 'It may have been done.',
  fault: 'environment',
})

describe('the log', () => {
  it('skips and counts lines that are not acts', async () => {
    const what = { state, store, act: 'create', keys: [], onUnwritten } as const
    await withAudit(what, (store) => createKey(store, team, now))
    const begin = { act_id: 'x', step: 'begin', at: '2026-08-22T00:00:00Z', user: 'u', act: 'a' }
    const bad = [
      null,
      [],
      5,
      begin,
      { ...begin, keys: [null] },
      { ...begin, keys: [], at: 5 },
      { ...begin, keys: [], entries: 'x' },
      { act_id: 'x', step: 'done', changes: [{ key: 'k' }] },
      { act_id: 'x', step: 'done', list_changes: [null] },
      { act_id: 'x', step: 'done', server_changes: {} },
    ]
    appendFileSync(file(), `{"act_id"\n${bad.map((line) => JSON.stringify(line)).join('\n')}\n`)
    await withAudit(what, (store) => createKey(store, team, now))
    const { entries, broken } = await readAuditLog(state, 10)
    expect(entries.map(({ act, result }) => [act, result])).toEqual([
      ['create', 'done'],
      ['create', 'done'],
    ])
    expect(broken).toBe(bad.length + 1)
  })
})

describe('an act', () => {
  it('that is done is done, though its end cannot be recorded', async () => {
    const what = { state, store, act: 'create', keys: [], onUnwritten } as const
    const issued = await withAudit(what, async (store) => {
      const made = await createKey(store, team, now)
      blockFile()
      return made
    })
    expect(issued.text).toMatch(/^irk_/)
    expect(await store.get(issued.record.id)).toEqual(issued.record)
    expect(told.map(({ code }) => code)).toEqual(['audit_end_unwritten'])
    expect(told[0]?.message).toMatch(
      /second line of this act.*could not be written.*is a symbolic link/,
    )
    unblockFile()
    const { entries } = await readAuditLog(state, 10)
    expect(entries).toMatchObject([{ act: 'create', result: 'unknown' }])
  })

  it('that fails says why, though that cannot be recorded', async () => {
    const what = { state, store, act: 'rotate', keys: ['000000000000'], onUnwritten } as const
    const failing = withAudit(what, (store) => {
      blockFile()
      return rotateKey(store, '000000000000', { now, graceMs: 0 })
    })
    await expect(failing).rejects.toMatchObject({ code: 'key_unknown' })
    expect(told).toHaveLength(1)
  })

  it('that cannot be recorded is not done', async () => {
    symlinkSync('/dev/full', file())
    let ran = false
    const what = { state, store, act: 'create', keys: [], onUnwritten } as const
    const refused = withAudit(what, async () => {
      ran = true
    })
    await expect(refused).rejects.toMatchObject({
      code: 'audit_unwritable',
      message: /is a symbolic link/,
    })
    expect([ran, told]).toEqual([false, []])
  })

  it('of which the store does not say whether it was done is unknown, with the key', async () => {
    // It makes the key, and is not heard.
    const mute: KeyStore = {
      ...store,
      create: async (record) => {
        await store.create(record)
        throw unknown
      },
      update: async (id, change) => {
        await store.update(id, change)
        throw unknown
      },
    }
    const what = { state, store: mute, act: 'create', keys: [], onUnwritten } as const
    const creating = withAudit(what, (store) => createKey(store, team, now))
    const thrown = await creating.catch((error: unknown) => error)
    const [made] = (await store.list()).records
    const id = made?.id ?? ''
    expect(thrown).toMatchObject({ code: 'store_unknown' })
    expect((thrown as Error).message).toMatch(
      new RegExp(`may have been done.*The key is ${id}:.*revoke`),
    )
    const again = { ...what, act: 'rotate', keys: [id] } as const
    const rotating = withAudit(again, (store) => rotateKey(store, id, { now, graceMs: 1000 }))
    await expect(rotating).rejects.toMatchObject({ code: 'store_unknown' })
    const missing = withAudit(again, (store) =>
      rotateKey(store, '000000000000', { now, graceMs: 0 }),
    )
    await expect(missing).rejects.toMatchObject({ message: unknown.message })
    const { entries } = await readAuditLog(state, 10)
    expect(entries).toMatchObject([
      { act: 'create', result: 'unknown', code: 'store_unknown', changes: [{ key: id }] },
      { act: 'rotate', result: 'unknown', code: 'store_unknown', changes: [{ key: id }] },
      { act: 'rotate', result: 'unknown', code: 'store_unknown', changes: [] },
    ])
  })
})
