// Hot path: no allocation, throw or closure but in `newLookupBatch`.
//
// Looks up addresses together. An answer reads a dozen places of a table that is far larger than
// any cache, each named by the one before: one by one, a thread mostly waits for memory (1.4 us an
// address). Here each step is taken for the whole batch, so that the processor waits for a dozen
// addresses at once.
//
//   one by one   index → starts → records → place → text,  index → starts → records → …
//   a batch      index index index …  starts starts starts …  records records records …
//
// Reading ahead is only a hint to the caches: search.ts and `locate` find the result.

import { recordWords, runElementWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { newQuery } from './query.ts'
import { locate, newLocated } from './locate.ts'
import { prefetchIndexIpv4, prefetchIndexIpv6, searchIpv4, searchIpv6 } from './search.ts'

/** What these read stays in the nearest caches until it is used; with 64 and more it does not. */
export const lookupBatchMax = 32

export type LookupBatch = ReturnType<typeof newLookupBatch>

export function newLookupBatch() {
  return {
    /** The first `count` of them are addresses. */
    queries: Array.from({ length: lookupBatchMax }, newQuery),
    located: Array.from({ length: lookupBatchMax }, newLocated),
    count: 0,
    /** Of each, the element that was read last, or is read next. */
    at: new Uint32Array(lookupBatchMax),
    /** Takes in what was read, or the reads would be compiled away. */
    sink: 0,
  }
}

export function locateBatch(batch: LookupBatch, views: SectionViews): void {
  const { queries: query, located, count, at } = batch
  prefetchSearch(batch, views)
  searchBatch(batch, views)
  for (let i = 0; i < count; i++) {
    const { family, words } = query[i]!
    locate(views, family === 4 ? 4 : 6, words, located[i]!, at[i])
  }
}

function searchBatch(batch: LookupBatch, views: SectionViews): void {
  const { queries: query, count, at } = batch
  const { records } = views
  for (let i = 0; i < count; i++) {
    const { family, words } = query[i]!
    at[i] = family === 4 ? searchIpv4(views, words[0]!) : searchIpv6(views, words)
  }
  let sink = 0
  for (let i = 0; i < count; i++) sink += records[at[i]! * recordWords]!
  batch.sink = sink
}

/** Reads what the search (search.ts) will: the index, a start or key near it, a record's number. */
function prefetchSearch(batch: LookupBatch, views: SectionViews): void {
  const { queries: query, count, at } = batch
  const { ipv4_starts: starts, ipv4_records: records4 } = views
  const { ipv6_keys: keys, ipv6_records: records6 } = views
  let sink = 0
  for (let i = 0; i < count; i++) {
    const { family, words } = query[i]!
    at[i] = family === 4 ? prefetchIndexIpv4(views, words[0]!) : prefetchIndexIpv6(views, words)
  }
  for (let i = 0; i < count; i++) {
    sink += query[i]!.family === 4 ? starts[at[i]!]! : keys[at[i]!]!
  }
  for (let i = 0; i < count; i++) {
    sink += query[i]!.family === 4 ? records4[at[i]!]! : records6[at[i]!]!
  }
  batch.sink = sink
}

/** Words of a run that share a line of memory. */
const lineWords = 16

/** Reads ahead what an answer will: the runs of each one's network and location. */
export function prefetchRuns(batch: LookupBatch, views: SectionViews): void {
  const { located, count, at } = batch
  const { network_runs: networkRuns } = views
  for (let i = 0; i < count; i++) {
    const { bogon, network } = located[i]!
    at[i] = bogon || network === 0 ? 0 : networkRuns[network - 1]!
  }
  prefetchLines(batch, views)
  prefetchLocationRuns(batch, views)
}

export function prefetchLocationRuns(batch: LookupBatch, views: SectionViews): void {
  const { located, count, at } = batch
  const { location_runs: locationRuns } = views
  for (let i = 0; i < count; i++) {
    const { bogon, location } = located[i]!
    at[i] = bogon || location === 0 ? 0 : locationRuns[location - 1]!
  }
  prefetchLines(batch, views)
}

/** Reads the first line of memory of the run of each, and where the second begins. */
function prefetchLines(batch: LookupBatch, { runs }: Pick<SectionViews, 'runs'>): void {
  const { count, at } = batch
  let sink = 0
  for (let i = 0; i < count; i++) {
    const from = at[i]! * runElementWords
    sink += runs[from]! + runs[from + lineWords]!
  }
  batch.sink = sink
}
