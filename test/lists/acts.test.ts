// Acts on own lists as people ask for them: the counts in their messages and in the audit log are
// those of all entries, and an act that another one overtook leaves nothing in the store.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLmdbListStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { auditActor, readAuditLog } from '../../src/audit/audit-log.ts'
import { auditRoutes } from '../../src/admin/routes/audit-api.ts'
import type { IpriskError } from '../../src/base/coded-error.ts'
import { type ListRequest, actOnLists, checkListRequest } from '../../src/lists/acts.ts'
import { addEntries, createList } from '../../src/lists/change-lists.ts'
import { chunkIdsOf, parseCatalogue } from '../../src/lists/list-catalogue.ts'
import { parseEntryKey } from '../../src/lists/list-entry.ts'
import type { ListStore } from '../../src/lists/list-store.ts'
import { unnamedAdmin } from '../../src/admin/admin-caller.ts'
import { runHere } from '../cli/program.ts'

const now = Date.UTC(2026, 7, 22)
let state = ''
let store: ListStore
beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-acts-'))
  store = await openLmdbListStore(state)
})
afterEach(async () => {
  await store.close()
  rmSync(state, { recursive: true })
})

const addresses = (count: number, begin: string): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${begin}.${i >> 8}.${i & 255}`)
const add = (entries: readonly string[], force = false) =>
  ({ act: 'add', list: 'mine', entries, force }) as const
const act = (request: ListRequest) =>
  actOnLists({ state, store, now, via: 'console as maria', onUnwritten: () => undefined }, request)
const keyOf = (text: string): string => {
  const key = parseEntryKey(text)
  if (typeof key !== 'string') throw new Error(key.fault)
  return key
}
const faultOf = (request: ListRequest): readonly string[] => {
  try {
    checkListRequest({ now }, request)
  } catch (error) {
    return (error as IpriskError).lines
  }
  throw new Error('it was not refused')
}

describe('an act on a list', () => {
  it('is counted in full, in its cautions and in the audit', async () => {
    await act({ act: 'create', list: 'mine', effect: 'block' })
    // As many as go at once, so that the caution is about all of them.
    const { cautions } = await act(add(addresses(10_000, '10.0')))
    expect(cautions).toEqual([
      expect.stringMatching(/^10.0.0.0, 10.0.0.1, 10.0.0.2 and 9997 more: /),
    ])
    const { entries } = await readAuditLog(state, 10)
    expect(entries[1]).toMatchObject({ entry_count: 10_000, result: 'done' })
    expect(entries[1]!.entries).toHaveLength(100)
    const [route] = auditRoutes({ state })
    const query = new URLSearchParams()
    const view = await route!.run({ caller: unnamedAdmin, name: '', query, bytes: Buffer.alloc(0) })
    expect(view).toMatchObject({
      rows: [
        {
          who: 'maria',
          via: 'console',
          what: 'mine: 10.0.0.0, 10.0.0.1, 10.0.0.2 and 9997 more',
        },
        { who: 'maria', what: 'mine' },
      ],
    })
  })

  it('is told with who asked for it, not with the user of the server', async () => {
    await act({ act: 'create', list: 'mine', effect: 'block' })
    const { out } = await runHere(['keys', 'audit', '--state', state], { cwd: state })
    expect(out).toMatch(/ maria via console +lists create /)
    const { uid, user } = (await readAuditLog(state, 1)).entries[0]!
    expect(auditActor({ user, via: 'admin port' })).toEqual({ who: 'admin', via: 'admin port' })
    expect(auditActor({ user: 'root', sudo_user: 'ops' })).toEqual({
      who: 'root (ops)',
      via: 'command line',
    })
    expect(uid).toBe(process.getuid?.())
  })

  it('names ten of what is wrong, and counts the rest', () => {
    const bad = Array.from({ length: 12 }, (_, i) => `x${i}`)
    expect(faultOf(add(bad)).slice(-2)).toEqual([
      expect.stringMatching(/^ {2}"x9": it is not an address/),
      '  and 2 more',
    ])
    expect(faultOf(add(bad.slice(0, 10)))).toHaveLength(11)
    const wide = Array.from({ length: 12 }, (_, i) => `${i * 2}.0.0.0/7`)
    expect(faultOf(add(wide)).slice(-2)).toEqual(['  18.0.0.0/7', '  and 2 more'])
    expect(faultOf(add(wide.slice(0, 10)))).toHaveLength(11)
  })

  it('that another one overtook leaves no chunk behind, and removes none of the other', async () => {
    await createList({ store, now }, { name: 'mine', effect: 'block' })
    const entryOf = (text: string) => ({ key: keyOf(text), expires: 0, added: 1, note: '' })
    let overtaken = 0
    const raced: ListStore = {
      ...store,
      replace: async (tag, text) => {
        if (overtaken++ === 0) await addEntries({ store, now }, 'mine', [entryOf('192.0.2.1')])
        return store.replace(tag, text)
      },
    }
    const { after } = await addEntries({ store: raced, now }, 'mine', [entryOf('192.0.2.2')])
    expect([overtaken, after?.entries]).toEqual([2, 2])
    const wanted = chunkIdsOf(parseCatalogue((await store.catalogue()).text))
    expect((await store.chunkIds()).toSorted()).toEqual([...wanted].toSorted())
  })

  it('of outcomes takes no step from people, who undo it by its name alone', async () => {
    await act({ act: 'create', list: 'mine', effect: 'block' })
    for (let i = 0; i < 12; i += 1) await act(add([`192.0.2.${i}`]))
    const entryOf = (i: number) => [{ key: keyOf(`192.0.3.${i}`), expires: 0, added: 1, note: '' }]
    await act({ act: 'create', list: 'reported', effect: 'none' })
    for (let i = 0; i < 12; i += 1) {
      const how = { replace: false, force: false }
      await act({ act: 'import', list: 'reported', entries: entryOf(i), ...how })
    }
    const { acts } = parseCatalogue((await store.catalogue()).text)
    const kept = acts.map(({ list }) => list)
    expect(kept).toEqual(['reported', 'reported', ...Array<string>(10).fill('mine')])
    const undo = async (list?: string) => {
      const undone = await act({ act: 'undo', list })
      return [undone.list, undone.added, undone.removed]
    }
    for (let i = 0; i < 10; i += 1) expect(await undo()).toEqual(['mine', 0, 1])
    await expect(undo()).rejects.toMatchObject({ code: 'undo_none' })
    for (let i = 0; i < 2; i += 1) expect(await undo('reported')).toEqual(['reported', 0, 1])
  })

  it.each(['allow', 'block'] as const)(
    'makes no list of outcomes with the effect %s',
    async (effect) => {
      const made = act({ act: 'create', list: 'reported-shared', effect })
      await expect(made).rejects.toMatchObject({ code: 'list_effect' })
    },
  )
})
