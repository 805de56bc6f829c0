// Hot path: no allocation, throw or closure but in `newQuery`.
//
// A query's address as borrowed text and as words, reused for many queries.

import { newAddressWords } from '../../ip/address.ts'
import { parseAddressBytes } from '../../ip/parse-address.ts'

export interface Query {
  bytes: Uint8Array
  /** The text is bytes[from … to). */
  from: number
  to: number
  /** 0 if the text is not an address. */
  family: 0 | 4 | 6
  readonly words: Uint32Array
}

export function newQuery(): Query {
  return { bytes: new Uint8Array(0), from: 0, to: 0, family: 0, words: newAddressWords() }
}

export function parseQuery(query: Query, bytes: Uint8Array, from: number, to: number): boolean {
  query.bytes = bytes
  query.from = from
  query.to = to
  query.family = parseAddressBytes(bytes, from, to, query.words)
  return query.family !== 0
}
