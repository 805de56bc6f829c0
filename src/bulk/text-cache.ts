// Texts by number, each made at its first use and then kept, all in one array: as an object each they
// lay anywhere in the heap, and a copy waited for memory four times.
//
//   spans   [begin, bytes] of each number; begin 0: not made yet
//   data    eight bytes an element, for copying (src/schema/table-layout.ts says why it may); 0 is free

import { runElementBytes } from '../schema/table-layout.ts'
import type { LookupBatch } from '../table/lookup/lookup-batch.ts'
import type { GrowingBuffer } from './growing-buffer.ts'
import { appendRun, appendSlice } from './output-buffer.ts'

export interface TextCache {
  readonly make: (number: number) => string
  readonly spans: Uint32Array
  data: Float64Array
  /** Elements of `data`. */
  used: number
}

const firstElements = 1 << 13

/** For numbers below `count`. */
export function newTextCache(count: number, make: (number: number) => string): TextCache {
  return { make, spans: new Uint32Array(count * 2), data: new Float64Array(firstElements), used: 1 }
}

/** Hot where it is kept: no allocation. */
export function appendCached(out: GrowingBuffer, kept: TextCache, number: number): void {
  const begin = kept.spans[number * 2]
  if (begin === undefined || begin === 0) appendNew(out, kept, number)
  else appendRun(out, kept.data, begin, kept.spans[number * 2 + 1]!)
}

function appendNew(out: GrowingBuffer, kept: TextCache, number: number): void {
  const bytes = Buffer.from(kept.make(number))
  appendSlice(out, bytes, 0, bytes.length)
  // In a damaged table a number may be any, or none.
  if (!(number * 2 < kept.spans.length)) return
  const begin = kept.used
  kept.used += Math.ceil(bytes.length / runElementBytes)
  if (kept.used > kept.data.length) {
    const larger = new Float64Array(kept.used * 2)
    larger.set(kept.data)
    kept.data = larger
  }
  new Uint8Array(kept.data.buffer).set(bytes, begin * runElementBytes)
  kept.spans[number * 2] = begin
  kept.spans[number * 2 + 1] = bytes.length
}

/** Reads what is kept of each one's network, before it is needed (src/table/lookup/lookup-batch.ts). */
export function prefetchNetworkTexts(group: LookupBatch, { spans, data }: TextCache): void {
  const { located, count, at } = group
  let sink = 0
  for (let i = 0; i < count; i++) at[i] = spans[located[i]!.network * 2]!
  for (let i = 0; i < count; i++) sink += data[at[i]!]!
  group.sink = sink
}
