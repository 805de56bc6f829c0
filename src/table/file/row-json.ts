// The JSON that a row of `networks` or `locations` becomes in answers: the text of its run, which
// the build writes (build/write/run-section.ts) and verify-runs.ts holds to. How runs are copied is
// json-run.ts's.

import type { Network } from '../../model/network.ts'
import type { Locality } from './location-record.ts'

/** What an answer says of its network, from the comma before to the colon of `location`. */
export function networkJson({
  asn,
  organization,
  type,
  mobile,
}: Pick<Network, 'asn' | 'organization' | 'type' | 'mobile'>): string {
  return `,"network":${JSON.stringify({ asn, organization, type, mobile })},"location":`
}

/** What an answer says of a place and not of its country, without the first quote and the last. */
export function locationJson(place: Locality): string {
  return JSON.stringify(place).slice('{"state":"'.length, -'"}'.length)
}
