// One sentence for each value of an answer's lists, and for each signal. A value without a sentence
// is a compile error.

import type { CoverageState, CoveredKind } from '../../src/model/coverage.ts'
import type {
  Accuracy,
  BotCategory,
  Classification,
  Confidence,
  Kind,
  Level,
  Match,
  NetworkType,
  OutcomeWord,
  ProxyType,
  SignalName,
} from '../../src/model/kind.ts'

type Texts<Value extends string> = Readonly<Record<Value, string>>

export const classificationTexts: Texts<Classification> = {
  bogon: 'Private, loopback or otherwise not routable: it must not appear on the Internet.',
  clean: 'Nothing says that it is anything but an ordinary user.',
  known_bot: 'A known crawler or AI tool.',
  hosting: 'A hosting or data centre network, without stronger evidence of a proxy.',
  proxy: 'A public or commercial proxy.',
  vpn: 'An exit of a VPN.',
  tor: 'A Tor exit.',
  residential_proxy: 'A proxy on the line of a household.',
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
  high: "Directly observed, as by an operator's own list, or three independent feeds.",
}

export const networkTypeTexts: Texts<NetworkType> = {
  unknown: 'It is not known what the network is for.',
  isp: 'Lines of homes and offices.',
  mobile: 'A mobile carrier.',
  hosting: 'Servers for hire.',
  business: 'A company for itself.',
  education: 'Schools and universities.',
  government: 'Authorities.',
  cdn: 'A content delivery network.',
  satellite: 'Lines by satellite.',
}

const proxyTypeTexts: Texts<ProxyType> = {
  proxy: 'A general proxy.',
  vpn: 'A VPN.',
  tor: 'A Tor exit.',
  data_center: 'A data centre or hosting environment.',
  residential: 'A residential proxy.',
}

const botCategoryTexts: Texts<BotCategory> = {
  search_crawler: 'Indexes pages for a search engine or something like it.',
  ai_tool: 'An AI tool or agent.',
}

const accuracyTexts: Texts<Accuracy> = {
  city: 'The city.',
  region: 'The state or region.',
  country:
    'The reference point of the country: no more is known, or the address is in many places.',
}

const kindTexts: Texts<Kind> = {
  tor: 'Tor exits.',
  vpn: 'Exits of VPNs.',
  proxy: 'Public and commercial proxies.',
  residential_proxy: 'Proxies on the lines of households.',
  hosting: 'Hosting networks.',
  bot: 'Known bots.',
  blocklist: 'Blocklists of abuse.',
  relay: 'Privacy relays with ordinary people behind them.',
}

const { relay: _relay, ...coveredKindTexts } = kindTexts satisfies Texts<CoveredKind>

const coverageStateTexts: Texts<CoverageState> = {
  full: 'By feeds that are young enough.',
  partly:
    'By hand-kept tables alone, or by feeds that hold less than half of what they usually do.',
  missing: 'By nothing.',
}

const matchTexts: Texts<Match> = {
  exact: 'It names the address.',
  range: 'It names a range that holds the address.',
  as: 'It names the whole network (AS) of the address.',
  near: 'It names addresses beside it, in the same /24: a reason for points, never a signal.',
}

export const signalTexts: Texts<SignalName> = {
  bogon: 'The address must not appear on the public Internet.',
  proxy: 'There is evidence of a proxy.',
  vpn: 'There is evidence of a VPN.',
  tor: 'There is evidence of a Tor exit.',
  hosting: 'There is evidence of hosting or a data centre.',
  residential_proxy: 'There is evidence of a residential proxy.',
  blocklist_match: 'A blocklist of abuse names the address.',
  relay: 'An exit of a privacy relay, such as iCloud Private Relay: an ordinary person behind it.',
  mobile: 'The traffic looks like that of a mobile network.',
}

const versionTexts: Texts<'4' | '6'> = {
  4: 'IPv4; also IPv4 that is written as IPv6, `::ffff:192.0.2.1`.',
  6: 'IPv6.',
}

const includeTexts: Texts<'insights' | ''> = {
  insights: 'The answer has `insights`.',
  '': 'As if it were left out.',
}

const unitTexts: Texts<'address' | '/64'> = {
  address: 'Single addresses, of IPv4.',
  '/64': "A customer's line, of IPv6.",
}

const outcomeTexts: Texts<OutcomeWord> = {
  legitimate: 'An ordinary user, whatever was said of the address.',
  abusive: 'Abuse: a stolen account, spam, fraud.',
}

/** By name on the page; without errors, reasons and signals. */
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
  include: includeTexts,
  unit: unitTexts,
  outcome: outcomeTexts,
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
