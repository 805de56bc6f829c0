// What own lists cost: a look-up in a million entries, a whole answer with and without them, and
// how long and how large it is to compile them.
//
//   --entries 1000000   half of them IPv4 addresses and prefixes, half IPv6
//   --rounds 9          interleaved; the figure is the median
//   --table FILE        whose answers are written
//   --smoke             whether it works, not how fast
//   --json              the report as JSON
//
// Addresses that no entry covers are looked up, as nearly all of a service's are, and every
// hundredth entry expires. The rows of one round follow each other, so that ratios within a run
// compare.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newAddressWords } from '../../../src/ip/address.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import { compileLists } from '../../../src/lists/compile/compile-lists.ts'
import { type EntryRows, readEntryRows } from '../../../src/lists/compile/entry-rows.ts'
import { encodeChunk } from '../../../src/lists/list-chunk.ts'
import type { ListEntry } from '../../../src/lists/list-entry.ts'
import { type MappedLists, mapLists } from '../../../src/lists/open-lists.ts'
import { newQuery, parseQuery, type Query } from '../../../src/table/lookup/query.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import { runProgram, showReport, temporaryFolder } from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { newRandom } from '../../harness/random.ts'
import { median } from '../../harness/statistics.ts'

export interface ListsReport extends RunHead {
  readonly kind: 'lists'
  readonly entries: number
  readonly compileMs: number
  readonly fileBytes: number
  readonly rows: readonly { readonly operation: string; readonly ns: number }[]
}

const chunkEntries = 4096
const asked = 65_536

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0')

/** Even last bits are listed, odd ones asked: nothing that is asked is covered. */
function makeEntries(count: number): ListEntry[] {
  const random = newRandom(1)
  const keys = new Set<string>()
  while (keys.size < count) {
    const word = (random.word() & ~1) >>> 0
    if (keys.size % 2 === 0) keys.add(`4${hex(word)}${hex(word)}`)
    else {
      const first = [0x2a00_0000 | (random.word() & 0x1f_ffff), random.word() & ~1, 0, 0]
      const last = [...first.slice(0, 2), 0xffff_ffff, 0xffff_ffff]
      keys.add(`6${first.map(hex).join('')}${last.map(hex).join('')}`)
    }
  }
  return [...keys]
    .sort()
    .map((key, i) => ({ key, expires: i % 100 === 0 ? 4_000_000_000 : 0, added: 1, note: '' }))
}

function makeQueries(family: 4 | 6): readonly Query[] {
  const random = newRandom(2)
  const words = newAddressWords()
  return Array.from({ length: asked }, () => {
    words[0] =
      family === 4 ? (random.word() % 0xdfff_ffff) | 1 : 0x2a00_0000 | (random.word() & 0x1f_ffff)
    words[1] = family === 4 ? 0 : random.word() | 1
    const bytes = Buffer.from(formatAddress(family, words))
    const query = newQuery()
    parseQuery(query, bytes, 0, bytes.length)
    return query
  })
}

function measure(): Promise<number> {
  const flags = readFlags({
    numbers: {
      entries: { max: 2_000_000, otherwise: 1_000_000, smoke: 10_000 },
      rounds: { max: 1000, otherwise: 9, smoke: 1 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const { entries: count, rounds } = flags
  const folder = temporaryFolder('lists')
  const table = openTable(tablePath(flags.table))
  try {
    const entries = makeEntries(count)
    const rows: EntryRows[] = []
    for (let at = 0; at < entries.length; at += chunkEntries) {
      rows.push(readEntryRows(encodeChunk(entries.slice(at, at + chunkEntries))))
    }
    const from = performance.now()
    const bytes = compileLists([{ name: 'all', effect: 'block', rows }], 0)
    const compileMs = performance.now() - from
    const path = join(folder, 'lists.iprisk')
    writeFileSync(path, bytes)
    const mapped = mapLists(path, 1)
    const measured = measureRows(table, mapped, rounds)
    const report: ListsReport = {
      ...runHead(process.argv.slice(2)),
      kind: 'lists',
      entries: count,
      compileMs,
      fileBytes: bytes.length,
      rows: measured,
    }
    showReport('lists', report, flags)
    return Promise.resolve(0)
  } finally {
    table.close()
  }
}

function measureRows(
  table: ReturnType<typeof openTable>,
  { matcher }: MappedLists,
  rounds: number,
): ListsReport['rows'] {
  const times = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const family of [4, 6] as const) {
      const queries = makeQueries(family)
      const time = (operation: string, one: (place: number) => number): void => {
        let sum = 0
        for (let i = 0; i < asked; i++) sum += one(i)
        const from = performance.now()
        for (let i = 0; i < asked; i++) sum += one(i)
        const ns = ((performance.now() - from) * 1e6) / asked
        if (sum < 0) throw new Error('never')
        const name = `IPv${family}: ${operation}`
        times.set(name, [...(times.get(name) ?? []), ns])
      }
      // Side by side, so that reading the address is no part of what is measured.
      const flat = new Uint32Array(asked * 4)
      queries.forEach(({ words }, i) => flat.set(words, i * 4))
      const words = newAddressWords()
      const next = (i: number): number => {
        for (let k = 0; k < 4; k++) words[k] = flat[i * 4 + k]!
        return family === 4 ? words[0]! : -1
      }
      time('reading an address alone', (i) => next(i) + 1)
      time('the same, and a look-up in the lists', (i) =>
        matcher.covers(family, words, next(i), 64_496) ? 1 : 0,
      )
      for (const lists of [undefined, matcher]) {
        table.useLists(lists)
        const name = lists === undefined ? 'without lists' : 'with a million entries'
        time(`an answer ${name}`, (i) => table.answer(queries[i]!).body.length)
      }
      table.useLists(undefined)
    }
  }
  return [...times].map(([operation, all]) => ({ operation, ns: median(all) }))
}

await runProgram(measure)
