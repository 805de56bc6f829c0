// What a condition sees of an answer (contract 5.4): each member with its CEL type and, where its
// values are a closed list, those words. The types follow the wire's, so that a member that the
// answer gains is missing here at compile time.

import type {
  BotAnswer,
  CheckAnswer,
  Location,
  NetworkAnswer,
  ProxyAnswer,
} from '../../api/check-answer.ts'
import {
  accuracies,
  botCategories,
  classifications,
  confidences,
  levels,
  networkTypes,
  proxyTypes,
  signalNames,
} from '../../model/kind.ts'

export type MemberType = 'bool' | 'int' | 'double' | 'string' | 'list<string>'

/** The objects of an answer; of one that is null, every member reads as its type's empty value. */
export const objectMembers = {
  network: {
    asn: 'int',
    organization: 'string',
    type: 'string',
    mobile: 'bool',
  } satisfies Record<keyof NetworkAnswer, MemberType>,
  location: {
    country_code: 'string',
    continent_code: 'string',
    continent: 'string',
    country: 'string',
    state: 'string',
    city: 'string',
    zip: 'string',
    latitude: 'double',
    longitude: 'double',
    timezone: 'string',
    currency_code: 'string',
    accuracy: 'string',
  } satisfies Record<keyof Location, MemberType>,
  proxy: {
    confidence: 'string',
    type: 'string',
    provider: 'string',
    last_seen_at: 'string',
    percent_days_seen: 'double',
  } satisfies Record<keyof ProxyAnswer, MemberType>,
  bot: {
    confidence: 'string',
    provider: 'string',
    category: 'string',
  } satisfies Record<keyof BotAnswer, MemberType>,
  signals: Object.fromEntries(signalNames.map((name) => [name, 'bool'])) as Readonly<
    Record<(typeof signalNames)[number], 'bool'>
  >,
} as const

/** Members that are no objects; `lists` names the operator's own lists that match (5.3). */
export const plainMembers = {
  risk_score: 'int',
  risk_level: 'string',
  classification: 'string',
  version: 'int',
  reasons: 'list<string>',
  lists: 'list<string>',
} as const satisfies Readonly<Record<string, MemberType>>

/**
 * The members that an answer has and a condition does not: they say nothing of the risk. `lists` it
 * has as a list that may be empty.
 */
type UnseenMember = 'ip' | 'address' | 'table' | 'coverage' | 'lists' | 'decision' | 'observed'

/** Compiles only while every member of an answer is either seen or named above. */
type SeenMember = Exclude<keyof CheckAnswer, UnseenMember>
const seen: Record<SeenMember, true> = {
  risk_score: true,
  risk_level: true,
  classification: true,
  version: true,
  reasons: true,
  network: true,
  location: true,
  proxy: true,
  bot: true,
  signals: true,
}

export const memberNames: readonly string[] = [...Object.keys(seen), 'lists']

/** Closed lists: a word that is none of them would never be equal. `''` is a null object's. */
export const closedWords: ReadonlyMap<string, readonly string[]> = new Map<
  string,
  readonly string[]
>([
  ['classification', classifications],
  ['risk_level', levels],
  ['network.type', [...networkTypes, '']],
  ['proxy.confidence', [...confidences, '']],
  ['proxy.type', [...proxyTypes, '']],
  ['bot.confidence', [...confidences, '']],
  ['bot.category', [...botCategories, '']],
  ['location.accuracy', [...accuracies, '']],
])

/** The members of an answer that a condition sees; those of a null object read as empty. */
export type SeenAnswer = Pick<CheckAnswer, SeenMember>

export type Facts = SeenAnswer & {
  /** The operator's own lists that match, by name. */
  readonly lists: readonly string[]
}

export const factsOf = (answer: SeenAnswer, lists: readonly string[]): Facts => ({
  risk_score: answer.risk_score,
  risk_level: answer.risk_level,
  classification: answer.classification,
  version: answer.version,
  reasons: answer.reasons,
  lists,
  network: answer.network,
  location: answer.location,
  proxy: answer.proxy,
  bot: answer.bot,
  signals: answer.signals,
})
