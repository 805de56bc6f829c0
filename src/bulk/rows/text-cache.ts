// Texts by number, built at first use and cached in one array: separate objects were scattered over
// the heap, and each copy waited for memory four times.
//
//   spans   [begin, bytes] by number; begin 0: not built yet
//   data    eight bytes an element, for copying (src/schema/table-layout.ts); element 0 is unused

import type { Network } from '../../model/network.ts'
import type { Verdict } from '../../model/verdict.ts'
import { networkWords, runElementBytes, verdictWords } from '../../schema/table-layout.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'
import { readNetwork } from '../../table/file/network-record.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import type { LookupBatch } from '../../table/lookup/lookup-batch.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { appendRun, appendSlice } from '../output-buffer.ts'

export interface TextCache {
  readonly make: (number: number) => string
  readonly spans: Uint32Array
  data: Float64Array
  used: number
}

const firstElements = 1 << 13

export function newTextCache(count: number, make: (number: number) => string): TextCache {
  return { make, spans: new Uint32Array(count * 2), data: new Float64Array(firstElements), used: 1 }
}

/** Hot if cached: no allocation. */
export function appendCached(out: GrowingBuffer, cache: TextCache, number: number): void {
  const begin = cache.spans[number * 2]
  if (begin === undefined || begin === 0) appendNew(out, cache, number)
  else appendRun(out, cache.data, begin, cache.spans[number * 2 + 1]!)
}

function appendNew(out: GrowingBuffer, cache: TextCache, number: number): void {
  const bytes = Buffer.from(cache.make(number))
  appendSlice(out, bytes, 0, bytes.length)
  // A damaged table's number may lie past the cache, or be NaN.
  if (!(number * 2 < cache.spans.length)) return
  const begin = cache.used
  cache.used += Math.ceil(bytes.length / runElementBytes)
  if (cache.used > cache.data.length) {
    const larger = new Float64Array(cache.used * 2)
    larger.set(cache.data)
    cache.data = larger
  }
  new Uint8Array(cache.data.buffer).set(bytes, begin * runElementBytes)
  cache.spans[number * 2] = begin
  cache.spans[number * 2 + 1] = bytes.length
}

/** Texts of verdicts: number 0 is the bogon's, others are verdict id + 1. */
export function verdictTextCache(
  { views, strings }: AnswerReader,
  textOf: (verdict: Verdict) => string,
): TextCache {
  return newTextCache(views.verdicts.length / verdictWords + 1, (number) =>
    textOf(number === 0 ? bogonVerdict : readVerdict(views, number - 1, strings)),
  )
}

/** Texts of networks by id; `none` for id 0. */
export function networkTextCache(
  { views, strings }: AnswerReader,
  none: string,
  textOf: (network: Network) => string,
): TextCache {
  return newTextCache(views.networks.length / networkWords + 1, (id) =>
    id === 0 ? none : textOf(readNetwork(views.networks, id, strings)),
  )
}

/** Reads ahead the networks' texts (src/table/lookup/lookup-batch.ts). */
export function prefetchNetworkTexts(batch: LookupBatch, { spans, data }: TextCache): void {
  const { located, count, at } = batch
  let sink = 0
  for (let i = 0; i < count; i++) at[i] = spans[located[i]!.network * 2]!
  for (let i = 0; i < count; i++) sink += data[at[i]!]!
  batch.sink = sink
}
