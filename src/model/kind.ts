// The closed vocabularies of the contract and of the model, each as one table from which the type
// follows. Their order is their number in the table file: append only.

/** What a feed claims about an address. */
export const kinds = [
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'hosting',
  'bot',
  'blocklist',
  'relay',
] as const
export type Kind = (typeof kinds)[number]

/** The one main word of an answer (contract 2). */
export const classifications = [
  'bogon',
  'clean',
  'known_bot',
  'hosting',
  'proxy',
  'vpn',
  'tor',
  'residential_proxy',
  'mixed',
] as const
export type Classification = (typeof classifications)[number]

/** Bands of the score (contract 3.1), lowest first. */
export const levels = ['low', 'medium', 'high', 'very_high', 'critical'] as const
export type Level = (typeof levels)[number]

/** How sure a finding is (contract 3.2), least first. */
export const confidences = ['low', 'medium', 'high'] as const
export type Confidence = (typeof confidences)[number]

/** network.type (contract 3.3). */
export const networkTypes = [
  'unknown',
  'isp',
  'mobile',
  'hosting',
  'business',
  'education',
  'government',
  'cdn',
  'satellite',
] as const
export type NetworkType = (typeof networkTypes)[number]

/** proxy.type (specification 2). */
export const proxyTypes = ['proxy', 'vpn', 'tor', 'data_center', 'residential'] as const
export type ProxyType = (typeof proxyTypes)[number]

/** bot.category (specification 2). */
export const botCategories = ['search_crawler', 'ai_tool'] as const
export type BotCategory = (typeof botCategories)[number]

/** The boolean signals, in wire order; `relay` and `mobile` are additive (contract 3.6). */
export const signalNames = [
  'bogon',
  'proxy',
  'vpn',
  'tor',
  'hosting',
  'residential_proxy',
  'blocklist_match',
  'relay',
  'mobile',
] as const
export type SignalName = (typeof signalNames)[number]
export type Signals = Readonly<Record<SignalName, boolean>>

/**
 * How an observation meets an address: it names it, holds it in a range, or only its AS; `near`:
 * it names some of its neighbours, and so nothing of the address itself.
 */
export const matches = ['exact', 'range', 'as', 'near'] as const
export type Match = (typeof matches)[number]

/** location.accuracy (contract 3.4): what its coordinates are the point of. */
export const accuracies = ['city', 'region', 'country'] as const
export type Accuracy = (typeof accuracies)[number]

/** Why the distance between two addresses may not be their user's (contract 6.7). */
export const travelDoubts = [
  'relay',
  'vpn',
  'tor',
  'proxy',
  'hosting',
  'satellite',
  'mobile',
  'cdn',
  'corporate_egress',
  'country_only',
] as const
export type TravelDoubt = (typeof travelDoubts)[number]

/** Of a signed request, in lower case. */
export const signatureHeaders = ['signature', 'signature-input', 'signature-agent'] as const

/** How far the name of an agent is proven, and what the agent is for (contract 6.6). */
export const agentStatuses = ['verified', 'spoofed', 'unverified', 'unknown'] as const
export const agentCategories = [
  'search_crawler',
  'ai_tool',
  'advertising',
  'archive',
  'monitoring',
  'preview',
  'seo',
  'other',
  '',
] as const

/** Every closed list of an answer, and the open-ended network types in use, for the meta answer. */
export const valueLists = {
  classification: classifications,
  risk_level: levels,
  confidence: confidences,
  network_type: networkTypes,
  proxy_type: proxyTypes,
  bot_category: botCategories,
  signal: signalNames,
  location_accuracy: accuracies,
  travel_doubt: travelDoubts,
} as const

// What an own list can do to a score (contract 5.3).

/** `none`: a list is only a fact. */
export const listEffects = ['none', 'allow', 'block'] as const
export type ListEffect = (typeof listEffects)[number]

/** How an address turned out, in the words in which callers report it (contract 5.6). */
export const outcomeWords = ['legitimate', 'abusive'] as const
export type OutcomeWord = (typeof outcomeWords)[number]

/** The least score of each level (contract 3.1), highest level first. */
export const levelFloors = [
  { level: 'critical', least: 90 },
  { level: 'very_high', least: 75 },
  { level: 'high', least: 50 },
  { level: 'medium', least: 25 },
  { level: 'low', least: 0 },
] as const satisfies readonly { readonly level: Level; readonly least: number }[]

/** The level of a score from 0 to 100. */
export function riskLevelOf(score: number): Level {
  for (const { level, least } of levelFloors) {
    if (score >= least) return level
  }
  return 'low'
}
