// A matcher of lists that a test writes down.

import { compileLists } from '../../src/lists/compile/compile-lists.ts'
import { readEntryRows } from '../../src/lists/compile/entry-rows.ts'
import { encodeChunk } from '../../src/lists/list-chunk.ts'
import { parseEntryKey } from '../../src/lists/list-entry.ts'
import type { ListMatcher } from '../../src/lists/list-matcher.ts'
import { openLists } from '../../src/lists/open-lists.ts'
import type { PlainList } from './linear-scan.ts'

/** The bytes of a compiled file. */
export function listBytes(lists: readonly PlainList[], nowSeconds = 0): Uint8Array {
  const sources = lists.map(({ name, effect, entries }) => {
    const unique = [...new Map(entries.map((one) => [one.key, one])).values()]
    const sorted = unique.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const text = encodeChunk(sorted.map((one) => ({ ...one, added: 1, note: '' })))
    return { name, effect, rows: sorted.length === 0 ? [] : [readEntryRows(text)] }
  })
  return compileLists(sources, nowSeconds)
}

export function matcherOf(lists: readonly PlainList[], nowSeconds = 0): ListMatcher {
  return openLists(listBytes(lists, nowSeconds), 'test', 1)
}

/** A list of entries as a person writes them. */
export function plainList(
  name: string,
  effect: PlainList['effect'],
  ...entries: readonly string[]
): PlainList {
  return {
    name,
    effect,
    entries: entries.map((text) => ({ key: keyOf(text), expires: 0 })),
  }
}

function keyOf(text: string): string {
  const key = parseEntryKey(text)
  if (typeof key !== 'string') throw new Error(`${text}: ${key.fault}`)
  return key
}
