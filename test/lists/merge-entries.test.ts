// Chunks that stay as they are when others of their list change.

import { expect, it } from 'vitest'
import { encodeChunk } from '../../src/lists/list-chunk.ts'
import { mergeEntries } from '../../src/lists/merge-entries.ts'
import { entryOf } from '../account/stores/list-conformance.ts'

it('makes no chunk that reaches over one that stays', async () => {
  const chunkOf = (id: string, texts: readonly string[]) => {
    const entries = texts.map((text) => entryOf(text))
    const chunk = { id, first: entries[0]!.key, entries: entries.length, soonest: 0 }
    return { chunk, text: encodeChunk(entries) }
  }
  const made = [
    chunkOf('low', ['192.0.2.1', '192.0.2.3']),
    chunkOf('middle', ['198.51.100.1']),
    chunkOf('high', ['203.0.113.1', '203.0.113.3']),
  ]
  const store = {
    chunks: async (ids: readonly string[]) =>
      ids.map((id) => made.find(({ chunk }) => chunk.id === id)?.text),
  }
  const chunks = made.map(({ chunk }) => chunk)
  const counts = { created: 1, entries: 5, prefixes: 5 }
  const before = { name: 'mine', effect: 'block' as const, ...counts, chunks }
  const put = ['192.0.2.2', '203.0.113.2'].map((text) => entryOf(text))
  const { list } = await mergeEntries({ store, now: 1000 }, before, { put, remove: [] })
  expect(list).toMatchObject({ entries: 7, prefixes: 7 })
  expect(list.chunks.map(({ first, entries }) => [first, entries])).toEqual([
    [entryOf('192.0.2.1').key, 3],
    [entryOf('198.51.100.1').key, 1],
    [entryOf('203.0.113.1').key, 3],
  ])
  expect(list.chunks[1]).toBe(chunks[1])
})
