// Runs of JSON that answers copy as they are, eight bytes at a time: the table's own, a network's
// or a location's (made by build/write/run-section.ts of the texts here), and those that are made
// here while serving (json-fragments.ts). src/schema/FORMAT.md draws them. Copying is
// answer-writer.ts.

import type { Network } from '../../model/network.ts'
import { runElementBytes } from '../../schema/table-layout.ts'
import type { Locality } from '../file/location-record.ts'

/** A run that is not the table's. */
export interface JsonRun {
  /** The text, filled up with zeros. */
  readonly data: Float64Array
  readonly bytes: number
}

export function jsonRun(text: string): JsonRun {
  const bytes = Buffer.from(text, 'utf8')
  const data = new Float64Array(Math.ceil(bytes.length / runElementBytes))
  new Uint8Array(data.buffer).set(bytes)
  return { data, bytes: bytes.length }
}

/** What an answer says of its network, from the comma before to the colon of `location`. */
export function networkJson({ asn, organization, type, mobile }: Network): string {
  return `,"network":${JSON.stringify({ asn, organization, type, mobile })},"location":`
}

/** What an answer says of a place and not of its country, without the first quote and the last. */
export function locationJson(place: Locality): string {
  return JSON.stringify(place).slice('{"state":"'.length, -'"}'.length)
}
