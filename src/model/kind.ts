// The closed vocabularies of the contract and of the model, with their types. Their order is their
// number in the table file: append only.

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

/** The main result of an answer (contract 3.7: classification). */
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

/** Bands of the score (contract 3.1: risk_level), lowest first. */
export const levels = ['low', 'medium', 'high', 'very_high', 'critical'] as const
export type Level = (typeof levels)[number]

/** How certain a finding is (contract 3.2: confidence), lowest first. */
export const confidences = ['low', 'medium', 'high'] as const
export type Confidence = (typeof confidences)[number]

/** network.type (contract 3.3: network). */
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

/** proxy.type (contract 3.5: proxy). */
export const proxyTypes = ['proxy', 'vpn', 'tor', 'data_center', 'residential'] as const
export type ProxyType = (typeof proxyTypes)[number]

/** bot.category (contract 2: response). */
export const botCategories = ['search_crawler', 'ai_tool'] as const
export type BotCategory = (typeof botCategories)[number]

/** In wire order, including the additive `relay` and `mobile` (contract 3.6: signals). */
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
 * How evidence matches an address: exactly, by a range, or only by its AS; `near` means its
 * neighbours, not the address itself.
 */
export const matches = ['exact', 'range', 'as', 'near'] as const
export type Match = (typeof matches)[number]

/** location.accuracy: the area whose point the coordinates are. */
export const accuracies = ['city', 'region', 'country'] as const
export type Accuracy = (typeof accuracies)[number]

/** Why the distance between two addresses may not be their user's. */
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

/** Headers of a signed request, in lower case. */
export const signatureHeaders = ['signature', 'signature-input', 'signature-agent'] as const

/** How certain an agent's identity is, and its purpose (contract 6.6: agent). */
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
export const identifications = ['signature', 'published_range', ''] as const

/** The closed lists of an answer, and the open-ended network types in use, for the meta answer. */
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

/** The effect of an own list on a score; `none` only reports a match. */
export const listEffects = ['none', 'allow', 'block'] as const
export type ListEffect = (typeof listEffects)[number]

/** Outcomes in callers' reports. */
export const outcomeWords = ['legitimate', 'abusive'] as const
export type OutcomeWord = (typeof outcomeWords)[number]

/** Minimum scores by level, highest first. */
export const levelFloors = [
  { level: 'critical', least: 90 },
  { level: 'very_high', least: 75 },
  { level: 'high', least: 50 },
  { level: 'medium', least: 25 },
  { level: 'low', least: 0 },
] as const satisfies readonly { readonly level: Level; readonly least: number }[]

export function riskLevelOf(score: number): Level {
  for (const { level, least } of levelFloors) {
    if (score >= least) return level
  }
  return 'low'
}
