// What a condition sees of an answer (contract 5.4: decision): each member with its CEL type and
// closed list of words. Compiles only while every member of an answer has a type here or is unseen.

import type { AgentAnswer } from '../../api/agent-context.ts'
import type {
  BotAnswer,
  CheckAnswer,
  Location,
  NetworkAnswer,
  ProxyAnswer,
  TravelAnswer,
} from '../../api/check-answer.ts'
import * as kind from '../../model/kind.ts'

export type MemberType = 'bool' | 'int' | 'double' | 'string' | 'list<string>'

/** A null object's members read as their types' empty values. */
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
  signals: Object.fromEntries(kind.signalNames.map((name) => [name, 'bool'])) as Readonly<
    Record<(typeof kind.signalNames)[number], 'bool'>
  >,
  travel: {
    known: 'bool',
    km: 'int',
    hours: 'double',
    kmh: 'int',
    same_country: 'bool',
    same_asn: 'bool',
    reliable: 'bool',
    unreliable_because: 'list<string>',
  } satisfies Record<keyof TravelAnswer, MemberType>,
  agent: {
    status: 'string',
    name: 'string',
    operator: 'string',
    category: 'string',
  } satisfies Partial<Record<keyof AgentAnswer, MemberType>>,
} as const

/** What a request says besides its address (contract 6.5: context); without that they read as empty. */
const contextMembers = [
  'travel',
  'agent',
] as const satisfies readonly (keyof typeof objectMembers)[]

export const readContext = (reads: ReadonlySet<string>): string | undefined =>
  contextMembers.find((member) => reads.has(member))

/** `lists`: the operator's own lists that match (5.3). */
export const plainMembers = {
  risk_score: 'int',
  risk_level: 'string',
  classification: 'string',
  version: 'int',
  reasons: 'list<string>',
  lists: 'list<string>',
} as const satisfies Readonly<
  Record<Exclude<SeenMember, keyof typeof objectMembers> | 'lists', MemberType>
>

/** They say nothing about the risk. `lists` may be absent in an answer, and is empty then. */
type UnseenMember =
  'ip' | 'address' | 'table' | 'coverage' | 'lists' | 'decision' | 'observed' | AskedMember
type AskedMember = 'prefix' | 'detections' | 'context_errors'

type SeenMember = Exclude<keyof CheckAnswer, UnseenMember>

export const memberNames = [...Object.keys(plainMembers), ...Object.keys(objectMembers)]

/** No other word would ever be equal. `''` is that of a null object. */
export const closedWords: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    classification: kind.classifications,
    risk_level: kind.levels,
    'network.type': [...kind.networkTypes, ''],
    'proxy.confidence': [...kind.confidences, ''],
    'proxy.type': [...kind.proxyTypes, ''],
    'bot.confidence': [...kind.confidences, ''],
    'bot.category': [...kind.botCategories, ''],
    'location.accuracy': [...kind.accuracies, ''],
    'agent.status': [...kind.agentStatuses, ''],
    'agent.category': kind.agentCategories,
  }),
)

export type SeenAnswer = Pick<CheckAnswer, SeenMember>

export type Facts = Omit<SeenAnswer, 'travel' | 'agent'> & {
  readonly lists: readonly string[]
  readonly travel: TravelAnswer | undefined
  readonly agent: AgentAnswer | undefined
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
  travel: answer.travel,
  agent: answer.agent,
})
