// What every store of own lists must do (src/lists/list-store.ts), and what the acts on lists
// (src/lists/change-lists.ts) make of it. Two calls of `openStore` with one place give two handles
// to the same lists.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as acts from '../../../src/lists/change-lists.ts'
import { listNamed, parseCatalogue } from '../../../src/lists/list-catalogue.ts'
import { type ListEntry, keyOfRange, parseEntryKey } from '../../../src/lists/list-entry.ts'
import { undoActsMax } from '../../../src/lists/list-limits.ts'
import type { ListStore } from '../../../src/lists/list-store.ts'
import { readEntries } from '../../../src/lists/merge-entries.ts'

const now = 1_800_000_000_000

export function entryOf(text: string, more: Partial<ListEntry> = {}): ListEntry {
  const key = parseEntryKey(text)
  if (typeof key !== 'string') throw new Error(`${text}: ${key.fault}`)
  return { key, expires: 0, added: 1, note: '', ...more }
}

/** The entries of a list, as the store has them. */
async function entriesOf(store: ListStore, name: string): Promise<readonly ListEntry[]> {
  const { text } = await store.catalogue()
  const list = listNamed(parseCatalogue(text), name)
  const entries = await readEntries(store, list?.chunks ?? [])
  expect(entries.length).toBe(list?.entries ?? 0)
  const keys = entries.map(({ key }) => key)
  expect(keys).toEqual(keys.toSorted())
  return entries
}

export function listStoreConformance(
  name: string,
  openStore: (place: string) => Promise<ListStore>,
): void {
  describe(`${name} keeps the contract of a list store`, () => {
    let place = ''
    let stores: ListStore[] = []
    const open = async (): Promise<ListStore> => {
      const store = await openStore(place)
      stores.push(store)
      return store
    }
    const block = async (): Promise<ListStore> => {
      const store = await open()
      await acts.createList({ store, now }, { name: 'block', effect: 'block' })
      return store
    }
    beforeEach(() => {
      place = mkdtempSync(join(tmpdir(), 'iprisk-lists-'))
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      stores = []
      rmSync(place, { recursive: true })
    })

    it('begins empty', async () => {
      const store = await open()
      expect(await store.catalogue()).toEqual({ tag: '', text: '' })
      expect(await store.tag()).toBe('')
      expect(await store.chunks(['a'])).toEqual([undefined])
      expect(await store.chunkIds()).toEqual([])
    })

    it('replaces a catalogue once: of two that know the same one the first wins', async () => {
      const [store, other] = [await open(), await open()]
      const tag = await store.replace('', 'one')
      expect(tag).toBeDefined()
      expect(await other.replace('', 'two')).toBeUndefined()
      expect(await other.catalogue()).toEqual({ tag, text: 'one' })
      const next = await other.replace(tag ?? '', 'two')
      expect(next).not.toBe(tag)
      expect(await store.tag()).toBe(next)
      expect(await store.replace(tag ?? '', 'three')).toBeUndefined()
    })

    it('keeps chunks of any text and size, in the order asked for', async () => {
      const store = await open()
      const long = 'é "\\ \u{1F511} '.repeat(40_000)
      const made = Array.from({ length: 30 }, (_, i) => ({ id: `c${i}`, text: `${i} ${long}` }))
      await store.putChunks(made)
      const other = await open()
      const [last, none, first] = await other.chunks(['c29', 'x', 'c0'])
      expect([last === made[29]!.text, none, first === made[0]!.text]).toEqual([
        true,
        undefined,
        true,
      ])
      await store.removeChunks(['c0', 'x'])
      expect((await other.chunkIds()).toSorted()).toEqual(
        made
          .slice(1)
          .map(({ id }) => id)
          .toSorted(),
      )
    })

    it('has every entry that was added by several at once', async () => {
      await block()
      const handles = await Promise.all([open(), open(), open(), open()])
      const texts = handles.flatMap((_, i) => [0, 1, 2, 3, 4].map((k) => `192.0.${i}.${k}`))
      await Promise.all(
        texts.map((text, i) =>
          acts.addEntries({ store: handles[i % handles.length]!, now }, 'block', [entryOf(text)]),
        ),
      )
      const kept = await entriesOf(await open(), 'block')
      expect(kept.map(({ key }) => key)).toEqual(texts.map((text) => entryOf(text).key).toSorted())
    })

    it('adds, changes and removes, and says how many', async () => {
      const store = await block()
      const counts = async (work: Promise<acts.ListChange>): Promise<readonly number[]> => {
        const { added, changed, removed } = await work
        return [added, changed, removed]
      }
      const three = ['192.0.2.1', '2001:db8::/32', 'AS64496'].map((text) => entryOf(text))
      expect(await counts(acts.addEntries({ store, now }, 'block', three))).toEqual([3, 0, 0])
      const noted = entryOf('192.0.2.1', { note: 'Grüße, 2 spaces  ', expires: now / 1000 + 9 })
      expect(
        await counts(acts.addEntries({ store, now }, 'block', [noted, ...three.slice(1)])),
      ).toEqual([0, 1, 0])
      expect((await entriesOf(store, 'block'))[0]).toEqual(noted)
      const gone = [three[1]!.key, entryOf('9.9.9.9').key]
      expect(await counts(acts.removeEntries({ store, now }, 'block', gone))).toEqual([0, 0, 1])
      // What has expired is gone with the next act on its chunk, without being counted.
      expect(await counts(acts.removeEntries({ store, now: now + 9000 }, 'block', gone))).toEqual([
        0, 0, 0,
      ])
      expect((await entriesOf(store, 'block')).map(({ key }) => key)).toEqual([three[2]!.key])
    })

    it('undoes acts, newest first, and keeps no chunk that nothing refers to', async () => {
      const store = await block()
      const many = Array.from({ length: 10_000 }, (_, i) => entryOf(`10.0.${i >> 8}.${i & 255}`))
      await acts.addEntries({ store, now }, 'block', [entryOf('192.0.2.1')])
      await acts.importEntries({ store, now }, 'block', {
        entries: many,
        replace: true,
        force: false,
      })
      expect(await entriesOf(store, 'block')).toHaveLength(10_000)
      await acts.undoAct({ store, now }, 'block')
      expect((await entriesOf(store, 'block')).map(({ key }) => key)).toEqual([
        entryOf('192.0.2.1').key,
      ])
      expect(await store.chunkIds()).toHaveLength(1)
      await acts.deleteList({ store, now }, 'block')
      expect((await acts.undoAct({ store, now })).list).toBe('block')
      expect(await entriesOf(store, 'block')).toHaveLength(1)
      await acts.undoAct({ store, now })
      await acts.undoAct({ store, now })
      expect(parseCatalogue((await store.catalogue()).text).lists).toEqual([])
      await expect(acts.undoAct({ store, now })).rejects.toMatchObject({ code: 'undo_none' })
      expect(await store.chunkIds()).toEqual([])
    })

    it('can undo the last acts only, and forgets what they found before', async () => {
      const store = await block()
      for (let i = 0; i < undoActsMax + 3; i += 1) {
        await acts.addEntries({ store, now }, 'block', [entryOf(`192.0.2.${i}`)])
      }
      expect(await store.chunkIds()).toHaveLength(undoActsMax + 1)
      for (let i = 0; i < undoActsMax; i += 1) await acts.undoAct({ store, now })
      await expect(acts.undoAct({ store, now })).rejects.toMatchObject({ code: 'undo_none' })
      expect(await entriesOf(store, 'block')).toHaveLength(3)
    })

    it('removes what a killed act has left, when it is old', async () => {
      const store = await block()
      await acts.addEntries({ store, now }, 'block', [entryOf('192.0.2.1')])
      const seconds = (ms: number): string => Math.floor(ms / 1000).toString(36)
      const old = { id: `${seconds(now - 7_200_000)}-old`, text: 'x' }
      await store.putChunks([old, { id: `${seconds(now)}-young`, text: 'x' }])
      expect(await acts.removeOrphans({ store, now })).toBe(1)
      expect(await store.chunkIds()).toHaveLength(2)
      expect(await entriesOf(store, 'block')).toHaveLength(1)
    })

    it('says what is wrong, and changes nothing then', async () => {
      const store = await block()
      const tag = await store.tag()
      const failing = [
        [acts.createList({ store, now }, { name: 'Block', effect: 'none' }), 'list_name'],
        [acts.createList({ store, now }, { name: 'block', effect: 'none' }), 'list_exists'],
        [acts.addEntries({ store, now }, 'other', []), 'list_unknown'],
        [acts.undoAct({ store, now }, 'other'), 'undo_none'],
      ] as const
      for (const [work, code] of failing) await expect(work).rejects.toMatchObject({ code })
      expect(await store.tag()).toBe(tag)
    })

    it('keeps what a Map would, over any acts', async () => {
      const store = await block()
      const plain = new Map<string, ListEntry>()
      const keys = fc
        .integer({ min: 0, max: 60 })
        .map((i) => keyOfRange({ family: 4, first: BigInt(i), last: BigInt(i + (i % 3)) }))
      const act = fc.record({
        put: fc.array(fc.tuple(keys, fc.constantFrom(0, now / 1000 + 60)), { maxLength: 8 }),
        remove: fc.array(keys, { maxLength: 8 }),
      })
      for (const { put, remove } of fc.sample(act, { numRuns: 25, seed: 7 })) {
        const entries = put.map(([key, expires]) => ({ key, expires, added: 1, note: '' }))
        await acts.addEntries({ store, now }, 'block', entries)
        await acts.removeEntries({ store, now }, 'block', remove)
        for (const entry of entries) plain.set(entry.key, entry)
        for (const key of remove) plain.delete(key)
      }
      const expected = [...plain.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      expect(await entriesOf(store, 'block')).toEqual(expected)
    })
  })
}
