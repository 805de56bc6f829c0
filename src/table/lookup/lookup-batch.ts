// Hot path: no allocation, throw or closure but in `newLookupBatch`.
//
// Looks up addresses together. An answer reads a dozen dependent places of a table far larger than
// any cache, so a single lookup mostly waits for memory (1.4 us per address). A batch takes each
// step for all addresses, so that the processor waits for many at once.
//
//   one by one   index → starts → records → place → text,  index → starts → records → …
//   a batch      index index index …  starts starts starts …  records records records …
//
// Reading ahead only warms the caches: search.ts and `locate` find the result.

import { recordWords, runElementWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { newQuery } from './query.ts'
import { locate, newLocated } from './locate.ts'
import { prefetchIndexIpv4, prefetchIndexIpv6, searchIpv4, searchIpv6 } from './search.ts'

/** This many reads stay in the nearest caches; 64 do not. */
export const lookupBatchMax = 32

export type LookupBatch = ReturnType<typeof newLookupBatch>

export function newLookupBatch() {
  return {
    /** The first `count` are addresses. */
    queries: Array.from({ length: lookupBatchMax }, newQuery),
    located: Array.from({ length: lookupBatchMax }, newLocated),
    count: 0,
    /** Per address, the element read last or next. */
    at: new Uint32Array(lookupBatchMax),
    /** Uses the reads, or they would be optimised away. */
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

/** Reads what search.ts will: the index, a start or key near it, a record's number. */
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

/** Words of a run per cache line. */
const lineWords = 16

/** Reads ahead the runs of each network and location. */
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

/** Reads the first cache line of each run, and the beginning of the second. */
function prefetchLines(batch: LookupBatch, { runs }: Pick<SectionViews, 'runs'>): void {
  const { count, at } = batch
  let sink = 0
  for (let i = 0; i < count; i++) {
    const from = at[i]! * runElementWords
    sink += runs[from]! + runs[from + lineWords]!
  }
  batch.sink = sink
}
