// Lists that a store has lost in part, or that say something else: every reader names what is wrong
// and ends, and nothing is taken for less than it was.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLmdbListStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import * as acts from '../../src/lists/change-lists.ts'
import { listNamed, parseCatalogue } from '../../src/lists/list-catalogue.ts'
import { chunkFault } from '../../src/lists/list-chunk.ts'
import { undoActsMax } from '../../src/lists/list-limits.ts'
import type { EntryRows } from '../../src/lists/compile/entry-rows.ts'
import type { ListStore } from '../../src/lists/list-store.ts'
import { readEntries } from '../../src/lists/merge-entries.ts'
import { readListSources } from '../../src/lists/read-sources.ts'
import { entryOf } from '../account/stores/list-conformance.ts'
import { changeChunks } from '../account/stores/write-row.ts'

const now = 1_800_000_000_000
let state = ''
let store: ListStore
const moment = () => ({ store, now })

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-damaged-'))
  store = await openLmdbListStore(state)
  await acts.createList(moment(), { name: 'office', effect: 'allow' })
  await acts.addEntries(moment(), 'office', [entryOf('192.0.2.1')])
  await acts.createList(moment(), { name: 'attackers', effect: 'block' })
  await acts.addEntries(moment(), 'attackers', [entryOf('9.9.9.9'), entryOf('2001:db8::/32')])
})
afterEach(async () => {
  await store.close()
  rmSync(state, { recursive: true })
})

const isAttackers = (text: string): boolean => text.includes(' ') && text.startsWith('409090909')
const lose = (): Promise<void> =>
  changeChunks(state, (text) => (isAttackers(text) ? undefined : text))

describe('a chunk that is missing', () => {
  it('is named with its list by the compiler and by acts, which fail', async () => {
    await lose()
    await expect(readListSources(store)).rejects.toMatchObject({
      code: 'lists_damaged',
      message: expect.stringMatching(/^The list attackers cannot be read: its chunk \S+ is not in/),
    })
    const chunks = listNamed(parseCatalogue((await store.catalogue()).text), 'attackers')!.chunks
    const named = { message: expect.stringContaining(chunks[0]!.id) }
    await expect(readEntries(store, chunks)).rejects.toMatchObject(named)
    const adding = acts.addEntries(moment(), 'attackers', [entryOf('8.8.8.8')])
    await expect(adding).rejects.toMatchObject(named)
    // Other lists can be changed, and the damaged one be replaced.
    await acts.addEntries(moment(), 'office', [entryOf('192.0.2.2')])
    await acts.deleteList(moment(), 'attackers')
    expect(await readListSources(store)).toMatchObject({ entries: 2 })
  })

  it('is left out if only the readable parts are wanted', async () => {
    await lose()
    const damaged: string[] = []
    const { sources, entries } = await readListSources(store, new Map(), ({ message }) =>
      damaged.push(message),
    )
    expect([sources.map(({ rows }) => rows.length), entries]).toEqual([[0, 1], 1])
    expect(damaged).toEqual([expect.stringContaining('The list attackers')])
  })

  it('is read again if the lists have changed meanwhile', async () => {
    let reads = 0
    const changing: typeof store = {
      ...store,
      chunks: async (ids) => {
        reads += 1
        // So many that none of them can be undone to what is read just now.
        const added = reads === 1 ? Array.from({ length: undoActsMax + 1 }, (_, i) => i) : []
        for (const i of added) {
          await acts.addEntries(moment(), 'attackers', [entryOf(`8.8.8.${i}`)])
        }
        return store.chunks(ids)
      },
    }
    expect(await readListSources(changing)).toMatchObject({ entries: 4 + undoActsMax })
    expect(reads).toBe(2)
  })
})

it('keeps the rows that it has of chunks that lists still have, and no others', async () => {
  const rows = new Map<string, EntryRows>()
  await readListSources(store, rows)
  const held = [...rows.keys()]
  expect(held).toHaveLength(2)
  await acts.addEntries(moment(), 'office', [entryOf('192.0.2.2')])
  const { sources, entries } = await readListSources(store, rows)
  expect(entries).toBe(4)
  expect(sources.map(({ rows: own }) => own.length)).toEqual([1, 1])
  expect(rows.size).toBe(2)
  expect(held.filter((id) => rows.has(id))).toHaveLength(1)
})

describe('a chunk', () => {
  const good = '40909090909090909 0 1'
  it.each([
    ['', 'is malformed in line 1'],
    [`${good}\n${good}`, '2 entries instead of 1'],
    ['x', 'is malformed'],
    ['4090909090909090 0 1', 'is malformed'],
    [`5${good.slice(1)}`, 'is malformed'],
    ['40909090909090908 0 1', 'is malformed'],
    ['409090909zzzzzzzz 0 1', 'is malformed'],
    ['40909090909090909 NaN 1', 'is malformed'],
    ['40909090909090909 zzzzzzz 1', 'is malformed'],
    ['40909090909090909', 'is malformed'],
    ['a0000fbf 0 1', 'is malformed'],
  ])('of %j is not sound', (text, why) => {
    const chunk = { id: 'one', first: '', entries: 1, soonest: 0 }
    expect(chunkFault(chunk, text)).toContain(why)
    for (const sound of [good, `${good} a note`, 'a0000fbf0 1z141z3 1', `6${'0'.repeat(64)} 0 1`]) {
      expect(chunkFault(chunk, sound)).toBeUndefined()
    }
  })

  it('that is malformed is named with its line', async () => {
    await changeChunks(state, (text) => text.replace('409090909', '4zzzzzzzz'))
    await expect(readListSources(store)).rejects.toMatchObject({
      code: 'lists_damaged',
      message: expect.stringMatching(/list attackers .* is malformed in line 1\./),
    })
    const adding = acts.addEntries(moment(), 'attackers', [entryOf('8.8.8.8')])
    await expect(adding).rejects.toMatchObject({ code: 'lists_damaged' })
  })
})

describe('a catalogue', () => {
  const list = { name: 'a', effect: 'block', created: 1, entries: 1, prefixes: 1 }
  const chunk = { id: '1-a', first: '4', entries: 1, soonest: 0 }
  const whole = { ...list, chunks: [chunk] }
  const act = { act: 'create', list: 'a', at: 1, before: null }
  it.each([
    ['{', 'it is not JSON'],
    ['null', 'it is not an object'],
    ['{"format":1}', 'it has no lists'],
    [{ format: 1, lists: [list], acts: [] }, 'its list 1, a, is malformed'],
    [{ format: 1, lists: [whole, { ...whole, name: '__proto__' }], acts: [] }, 'its list 2 is'],
    [{ format: 1, lists: [whole, whole], acts: [] }, 'it has the list a twice'],
    [{ format: 1, lists: [{ ...whole, effect: 'allow ' }], acts: [] }, 'malformed'],
    [{ format: 1, lists: [{ ...whole, entries: null }], acts: [] }, 'malformed'],
    [{ format: 1, lists: [{ ...whole, chunks: [{ ...chunk, id: '../x' }] }], acts: [] }, 'malform'],
    [{ format: 1, lists: [whole], acts: [{}] }, 'its act 1 is malformed'],
    [{ format: 1, lists: [], acts: [{ ...act, list: '../x' }] }, 'its act 1 is malformed'],
    [{ format: 1, lists: [], acts: [{ ...act, act: 'drop' }] }, 'its act 1 is malformed'],
    [{ format: 1, lists: [], acts: [{ ...act, at: null }] }, 'its act 1 is malformed'],
    [{ format: 2, lists: [], acts: [] }, 'have format 2'],
  ])('of %j is not sound', (content, why) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const error = { code: 'lists_unusable', message: expect.stringContaining(why) }
    expect(() => parseCatalogue(text)).toThrow(expect.objectContaining(error))
    const sound = { format: 1, lists: [whole], acts: [act] }
    expect(parseCatalogue(JSON.stringify(sound))).toEqual(sound)
  })
})
