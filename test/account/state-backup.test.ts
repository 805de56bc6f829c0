// Copies of a state folder: one is whole or none, a file is checked to its last line before anything
// is written, and what cannot be read comes back from a copy.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKey, revokeKey } from '../../src/account/keys/issue-key.ts'
import type { KeyRecord } from '../../src/account/keys/key-record.ts'
import { backUpState, readStateFile, restoreState } from '../../src/account/state-backup.ts'
import { type Stores, openStores, silentHooks } from '../../src/account/stores/open-stores.ts'
import * as acts from '../../src/lists/change-lists.ts'
import { entryOf } from './stores/list-conformance.ts'
import { changeChunks, writeCounter, writeRecord } from './stores/write-row.ts'

const now = Date.UTC(2026, 7, 22)
const team = { name: 'a', plan: 'team', apis: ['ip-risk'] } as const
const store = { policy: 'refuse', timeoutMs: 100, replicas: 0 } as const
const opened: Stores[] = []
const folders: string[] = []
let state = ''
let stores: Stores

async function newStores(): Promise<Stores> {
  state = mkdtempSync(join(tmpdir(), 'iprisk-backup-'))
  folders.push(state)
  const made = await openStores({ state, store }, silentHooks)
  opened.push(made)
  return made
}

beforeEach(async () => {
  stores = await newStores()
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

async function fill(): Promise<readonly [string, string]> {
  const keys = [
    await createKey(stores.keyStore, team, now),
    await createKey(stores.keyStore, team, now),
  ]
  const moment = { store: await stores.openLists(), now }
  await acts.createList(moment, { name: 'attackers', effect: 'block' })
  await acts.addEntries(moment, 'attackers', [entryOf('9.9.9.9')])
  await acts.addEntries(moment, 'attackers', [entryOf('8.8.8.8')])
  const [one = '', two = ''] = keys.map(({ record }) => record.id)
  await stores.ledger.charge(one, 679 as never, 7)
  return [one, two]
}

const restore = async (text: string, mended: string[] = []) =>
  restoreState(stores, readStateFile(text, 'copy'), ({ id }) => mended.push(id))

/** The file with its lines changed, whole all the same. */
function changed(text: string, change: (lines: string[]) => void): string {
  const lines = text.trimEnd().split('\n').slice(0, -1)
  change(lines)
  const body = lines.map((line) => `${line}\n`).join('')
  return `${body}${JSON.stringify({ sha256: createHash('sha256').update(body).digest('hex') })}\n`
}

describe('a copy', () => {
  it('is restored as it was, also twice', async () => {
    await fill()
    const { text, counts } = await backUpState(stores, now)
    expect(counts).toEqual({ keys: 2, lists: 1, counters: 1 })
    stores = await newStores()
    expect(await restore(text)).toEqual(counts)
    expect(await restore(text)).toEqual(counts)
    expect((await backUpState(stores, now)).text).toBe(text)
  })

  it('that was restored in part is completed by a second restore, counters before keys', async () => {
    await fill()
    const { text, counts } = await backUpState(stores, now)
    stores = await newStores()
    const whole = stores
    let made = 0
    const create = async (key: KeyRecord): Promise<void> => {
      if (made > 0) throw new Error('killed')
      made += 1
      await whole.keyStore.create(key)
    }
    stores = { ...whole, keyStore: { ...whole.keyStore, create } }
    await expect(restore(text)).rejects.toThrow('killed')
    expect(whole.counters?.list('')).toHaveLength(1)
    expect((await whole.keyStore.list()).records).toHaveLength(1)
    expect(await (await whole.openLists()).tag()).toBe('')
    stores = whole
    expect(await restore(text)).toEqual(counts)
    expect((await backUpState(stores, now)).text).toBe(text)
  })

  it('of an empty state works, too', async () => {
    const { text } = await backUpState(stores, now)
    expect(await restore(text)).toEqual({ keys: 0, lists: 0, counters: 0 })
  })

  it('fails with the name of a lost chunk, and leaves out acts that cannot be undone', async () => {
    await fill()
    // What an undo would bring back.
    await changeChunks(state, (text) => (text.includes('\n') ? text : undefined))
    const { text } = await backUpState(stores, now)
    expect(await restore(text)).toMatchObject({ lists: 1 })
    await changeChunks(state, () => undefined)
    await expect(backUpState(stores, now)).rejects.toMatchObject({
      code: 'lists_damaged',
      message: expect.stringMatching(/The list attackers cannot be read: its chunk \S+ is not/),
    })
    // And the copy brings it back.
    await restore(text)
    expect((await backUpState(stores, now)).text).toBe(text)
  })

  it('is refused while a row is unreadable, and restores such rows', async () => {
    const [one, two] = await fill()
    const { text } = await backUpState(stores, now)
    await writeRecord(state, one, '{')
    await writeRecord(state, two, `{"id":"${two}","revokedAt":"yesterday"}`)
    await writeCounter(state, `2026-08 ${one}`, 'x')
    await expect(backUpState(stores, now)).rejects.toMatchObject({
      code: 'state_unreadable',
      lines: [
        expect.stringContaining('No backup was written'),
        // In the order of the ids, which are random.
        ...[one, two].toSorted().map((id): unknown => expect.stringContaining(id)),
        expect.stringContaining(`"2026-08 ${one}"`),
        expect.stringContaining('from an older backup'),
      ],
    })
    const mended: string[] = []
    await restore(text, mended)
    expect(mended.toSorted()).toEqual([one, two].toSorted())
    expect((await stores.keyStore.get(one))?.revokedAt).toBeUndefined()
    // What could still be seen of it.
    expect((await stores.keyStore.get(two))?.revokedAt).toBeGreaterThan(0)
    expect(await stores.ledger.usage(679 as never)).toEqual(new Map([[one, 7]]))
  })

  it('leaves out rows whose name no key can have', async () => {
    await fill()
    const { text } = await backUpState(stores, now)
    for (const name of ['', 'x', '\u001B[31m']) await writeRecord(state, name, '{')
    expect((await backUpState(stores, now)).text).toBe(text)
  })

  it('works again once the unreadable key is revoked', async () => {
    const [one] = await fill()
    await writeRecord(state, one, '[]')
    await revokeKey(stores.keyStore, one, now)
    const { text } = await backUpState(stores, now)
    stores = await newStores()
    expect(await restore(text)).toMatchObject({ keys: 2 })
    expect(await stores.keyStore.get(one)).toMatchObject({ revokedAt: now, secrets: [] })
  })
})

describe('a file with an invalid line', () => {
  const ofKey = (change: object) => (lines: string[]) => {
    const line = JSON.parse(lines[1]!) as { readonly key: object }
    lines[1] = JSON.stringify({ key: { ...line.key, ...change } })
  }
  const cases: readonly (readonly [what: string, (lines: string[]) => void, why: RegExp])[] = [
    ['no JSON', (lines) => void (lines[1] = '{'), /line 2: it is not a JSON object/],
    ['null', (lines) => void (lines[1] = 'null'), /line 2: it is not a JSON object/],
    ['a later kind', (lines) => void lines.push('{"policy":"x"}'), /does not know its kind/],
    ['a key without secrets', ofKey({ secrets: undefined }), /line 2: the key \w{12}: its secrets/],
    ['a key without a date', ofKey({ createdAt: 'soon' }), /line 2: the key \w{12}: its createdAt/],
    ['a key without an id', ofKey({ id: '__proto__' }), /line 2: the key "__proto__": its id must/],
    ['a key twice', (lines) => void (lines[2] = lines[1]!), /line 3: the key \w{12} appears twice/],
    ['no chunk', (lines) => void lines.splice(3, 1), /list attackers: its chunk \S+ is not in/],
    [
      'a malformed chunk',
      (lines) => void (lines[3] = lines[3]!.replace(/"text":"./, '"text":"z')),
      /list attackers: its chunk \S+ is malformed in line 1/,
    ],
    [
      'a malformed catalogue',
      (lines) => void (lines[lines.length - 2] = '{"catalogue":"{"}'),
      /catalogue of own lists is damaged/,
    ],
    ['no catalogue', (lines) => void lines.splice(-2, 1), /no catalogue of lists/],
    ['two catalogues', (lines) => void lines.push(lines.at(-2)!), /more than one catalogue/],
    [
      'a counter of 1.5',
      (lines) => void lines.push('{"counter":"2026-08 k","value":1.5}'),
      /the counter 2026-08 k is not a whole number/,
    ],
    [
      'a counter without a name',
      (lines) => void lines.push(`{"counter":"${'x'.repeat(3000)}","value":1}`),
      /does not know its kind/,
    ],
  ]

  it.each(cases)('(%s) is refused by line, and nothing is written', async (_what, change, why) => {
    await fill()
    const { text } = await backUpState(stores, now)
    stores = await newStores()
    const error = { code: 'state_file', message: expect.stringMatching(why) }
    await expect(restore(changed(text, change))).rejects.toMatchObject(error)
    await expect(restore(text.slice(0, -100))).rejects.toMatchObject({ code: 'state_file' })
    expect((await stores.keyStore.changes(0)).version).toBe(0)
    expect(stores.counters?.list('')).toEqual([])
    expect(await (await stores.openLists()).tag()).toBe('')
  })

  it('shows twenty of many, and no secret or hash', async () => {
    for (let i = 0; i < 30; i += 1) await createKey(stores.keyStore, team, now)
    const { text } = await backUpState(stores, now)
    const bad = changed(text, (lines) => {
      for (let i = 1; i <= 30; i += 1) lines[i] = lines[i]!.replace(/"hash":"../, '"hash":"')
    })
    const error = await restore(bad).catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({ message: expect.stringMatching(/\n {2}and 10 more$/) })
    expect((error as Error).message.split('\n')).toHaveLength(22)
    expect((error as Error).message).not.toMatch(/[0-9a-f]{16}/)
  })

  it('may have members that a later version knows', async () => {
    await fill()
    const { text } = await backUpState(stores, now)
    const later = changed(text, ofKey({ region: 'eu' }))
    stores = await newStores()
    expect(await restore(later)).toMatchObject({ keys: 2 })
  })
})
