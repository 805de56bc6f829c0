// One sentence for each value of an answer's lists, and for each signal. A value without a sentence
// is a compile error.

import type { CoverageState, CoveredKind } from '../../src/model/coverage.ts'
import type {
  Accuracy,
  agentCategories,
  agentStatuses,
  BotCategory,
  Classification,
  Confidence,
  identifications,
  Kind,
  Level,
  Match,
  NetworkType,
  OutcomeWord,
  ProxyType,
  SignalName,
  TravelDoubt,
} from '../../src/model/kind.ts'

type Texts<Value extends string> = Readonly<Record<Value, string>>

export const classificationTexts: Texts<Classification> = {
  bogon: 'Private, loopback or otherwise unroutable: must not appear on the public Internet.',
  clean: 'No evidence of anything but an ordinary user.',
  known_bot: 'A known crawler or AI tool.',
  hosting: 'A hosting or data centre network, with no stronger evidence of a proxy.',
  proxy: 'A public or commercial proxy.',
  vpn: 'A VPN exit.',
  tor: 'A Tor exit.',
  residential_proxy: "A residential proxy: its traffic leaves through a household's connection.",
  mixed: 'Residential proxy and VPN at once: two high-risk findings that contradict each other.',
}

const levelTexts: Texts<Level> = {
  low: 'Score 0 to 24.',
  medium: 'Score 25 to 49.',
  high: 'Score 50 to 74.',
  very_high: 'Score 75 to 89.',
  critical: 'Score 90 to 100.',
}

const confidenceTexts: Texts<Confidence> = {
  low: 'One weak feed, or inferred from the network alone.',
  medium: 'Two independent feeds, or one good one.',
  high: "Directly observed (an operator's own list, for example), or three independent feeds.",
}

export const networkTypeTexts: Texts<NetworkType> = {
  unknown: 'The purpose of the network is unknown.',
  isp: 'Home and office connections.',
  mobile: 'A mobile carrier.',
  hosting: 'Servers for rent.',
  business: "A company's own network.",
  education: 'Schools and universities.',
  government: 'Public authorities.',
  cdn: 'A content delivery network.',
  satellite: 'Satellite connections.',
}

const proxyTypeTexts: Texts<ProxyType> = {
  proxy: 'A general proxy.',
  vpn: 'A VPN.',
  tor: 'A Tor exit.',
  data_center: 'A data centre or hosting environment.',
  residential: 'A residential proxy.',
}

const botCategoryTexts: Texts<BotCategory> = {
  search_crawler: 'Indexes pages for a search engine or a similar service.',
  ai_tool: 'An AI tool or agent.',
}

const accuracyTexts: Texts<Accuracy> = {
  city: 'Accurate to the city.',
  region: 'Accurate to the state or region.',
  country: 'The reference point of the country: nothing more precise is known.',
}

const kindTexts: Texts<Kind> = {
  tor: 'Tor exits.',
  vpn: 'VPN exits.',
  proxy: 'Public and commercial proxies.',
  residential_proxy: 'Residential proxies.',
  hosting: 'Hosting networks.',
  bot: 'Known bots.',
  blocklist: 'Abuse blocklists.',
  relay: 'Privacy relays, with ordinary users behind them.',
}

const { relay: _relay, ...coveredKindTexts } = kindTexts satisfies Texts<CoveredKind>

const coverageStateTexts: Texts<CoverageState> = {
  full: 'Covered by feeds that are recent enough.',
  partly: 'Covered only by hand-maintained tables or incomplete feeds.',
  missing: 'Not covered.',
}

const matchTexts: Texts<Match> = {
  exact: 'The feed lists the address itself.',
  range: 'The feed lists a range that contains the address.',
  as: 'The feed lists the whole AS of the address.',
  near: 'The feed lists other addresses in the same /24: adds points, never sets a signal.',
}

export const signalTexts: Texts<SignalName> = {
  bogon: 'The address must not appear on the public Internet.',
  proxy: 'There is evidence of a proxy.',
  vpn: 'There is evidence of a VPN.',
  tor: 'There is evidence of a Tor exit.',
  hosting: 'There is evidence of hosting or a data centre.',
  residential_proxy: 'There is evidence of a residential proxy.',
  blocklist_match: 'An abuse blocklist lists the address.',
  relay: 'Exit of a privacy relay such as iCloud Private Relay, with ordinary users behind it.',
  mobile: 'The traffic looks like mobile traffic.',
}

const versionTexts: Texts<'4' | '6'> = {
  4: 'IPv4, including IPv4 written as IPv6: `::ffff:192.0.2.1`.',
  6: 'IPv6.',
}

const unitTexts: Texts<'address' | '/64'> = {
  address: 'Single IPv4 addresses.',
  '/64': 'IPv6 prefixes of this length, one per customer line.',
}

const outcomeTexts: Texts<OutcomeWord> = {
  legitimate: 'An ordinary user, whatever the answer said.',
  abusive: 'Abuse: account takeover, spam, fraud.',
}

const travelDoubtTexts: Texts<TravelDoubt> = {
  relay: 'An address is an exit of a privacy relay.',
  vpn: 'An address is a VPN exit.',
  tor: 'An address is a Tor exit.',
  proxy: 'An address is a proxy.',
  hosting: 'An address belongs to a hosting network.',
  satellite: 'An address belongs to a satellite network.',
  mobile: 'An address belongs to a mobile network.',
  cdn: 'An address belongs to a content delivery network.',
  corporate_egress: 'An address is the egress of a company.',
  country_only: 'Only the country of an address is known.',
}

const agentStatusTexts: Texts<(typeof agentStatuses)[number]> = {
  verified: 'A published range holds the address, or a known key signed the request.',
  spoofed: 'The operator publishes its ranges for verification, and the address is in none.',
  unverified: 'Nothing proves the name.',
  unknown: 'The keys are not loaded yet, or the verifier is busy.',
}

const agentCategoryTexts: Texts<(typeof agentCategories)[number]> = {
  ...botCategoryTexts,
  advertising: 'Checks pages for advertising.',
  archive: 'Archives pages.',
  monitoring: 'Monitors the availability of a site.',
  preview: 'Fetches a page to show a preview of a link.',
  seo: 'Analyses pages for search engine optimization.',
  other: 'Another purpose.',
  '': 'No agent is named.',
}

const identificationTexts: Texts<(typeof identifications)[number]> = {
  signature: 'Verified by a signature (Web Bot Auth).',
  published_range: 'Verified by a range that the operator publishes.',
  '': 'Not verified.',
}

/** Keyed by name on the page; without errors, reasons and signals. */
export const valueTexts = {
  classification: classificationTexts,
  risk_level: levelTexts,
  confidence: confidenceTexts,
  proxy_type: proxyTypeTexts,
  network_type: networkTypeTexts,
  bot_category: botCategoryTexts,
  location_accuracy: accuracyTexts,
  kind: kindTexts,
  covered_kind: coveredKindTexts,
  coverage_state: coverageStateTexts,
  match: matchTexts,
  version: versionTexts,
  unit: unitTexts,
  outcome: outcomeTexts,
  travel_doubt: travelDoubtTexts,
  agent_status: agentStatusTexts,
  agent_category: agentCategoryTexts,
  agent_proof: identificationTexts,
} as const satisfies Readonly<Record<string, Texts<string>>>

const keyOf = (values: readonly (string | number)[]): string =>
  values.map(String).toSorted().join(' ')
const byValues = new Map<string, { readonly name: string; readonly texts: Texts<string> }>(
  Object.entries(valueTexts).map(([name, texts]) => [keyOf(Object.keys(texts)), { name, texts }]),
)

/** Identifies a list by its values. */
export function listOf(values: readonly (string | number)[]) {
  return byValues.get(keyOf(values))
}
