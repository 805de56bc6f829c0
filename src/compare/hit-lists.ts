// The networks, providers and countries with the most requests, and the top addresses, among the
// requests that a policy stops or changes, or that another table judges differently.

import { addTo, largestSums } from '../base/counts.ts'
import type { ExampleFacts, HitLists, RequestShare } from '../api/admin-answers.ts'
import type { CheckAnswer } from '../api/check-answer.ts'
import { verdictProvider } from '../model/verdict.ts'
import { countryOf, readCountry } from '../table/file/location-record.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { readVerdict } from '../table/file/verdict-record.ts'
import type { Located } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import { percentOf } from './comparison.ts'
import { newTopCounts } from './top-counts.ts'

export function requestShare(requests: number, all: number): RequestShare {
  return { requests, percent: percentOf(requests, all) }
}

export type Hits = ReturnType<typeof newHits>

export function newHits() {
  const counts = (): Map<number, number> => new Map()
  const [networks, verdicts, countries] = [counts(), counts(), counts()]
  return { networks, verdicts, countries, addresses: newTopCounts(1) }
}

/** Bogons have no verdict, network or place. */
export function addHit(
  hits: Hits,
  { reader: { views } }: OpenTable,
  hit: { readonly located: Located; readonly requests: number; readonly text: string },
): void {
  const { located, requests, text } = hit
  hits.addresses.add(text, [requests])
  if (located.bogon) return
  const { network, verdict, location } = located
  addTo(hits.networks, network, requests)
  addTo(hits.verdicts, verdict, requests)
  addTo(hits.countries, countryOf(views, location), requests)
}

/** `top` of each list; missing networks, providers and places are skipped. */
export function hitListsOf(
  { reader: { views, strings } }: OpenTable,
  hits: Hits,
  { top, all }: { readonly top: number; readonly all: number },
): HitLists {
  const organizations = new Map<number, string>()
  const ases = [...hits.networks].flatMap(([id, requests]) => {
    if (id === 0) return []
    const { asn, organization } = readNetwork(views.networks, id, strings)
    organizations.set(asn, organization)
    return [[asn, requests] as const]
  })
  const providers = [...hits.verdicts].flatMap(([id, requests]) => {
    const provider = verdictProvider(readVerdict(views, id, strings))
    return provider === '' ? [] : [[provider, requests] as const]
  })
  const countries = [...hits.countries].filter(([id]) => id !== 0)
  const largest = <Key>(counts: Iterable<readonly [Key, number]>) =>
    largestSums(counts)
      .slice(0, top)
      .map(([key, requests]) => [key, requestShare(requests, all)] as const)
  return {
    networks: largest(ases).map(([asn, share]) => ({
      asn,
      organization: organizations.get(asn) ?? '',
      ...share,
    })),
    providers: largest(providers).map(([provider, share]) => ({ provider, ...share })),
    countries: largest(countries).map(([id, share]) => {
      const { country_code, country } = readCountry(views.countries, id, strings)
      return { country_code, country, ...share }
    }),
  }
}

export function exampleFacts(answer: CheckAnswer): ExampleFacts {
  const { classification, risk_score, reasons, proxy, bot, network, location } = answer
  return {
    classification,
    risk_score,
    reasons,
    provider: proxy?.provider || bot?.provider || '',
    asn: network?.asn ?? 0,
    organization: network?.organization ?? '',
    country_code: location?.country_code ?? '',
  }
}
