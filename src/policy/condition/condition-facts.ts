// What one answer says, in the form in which CEL reads it: integers as BigInt, each object as one
// of a registered type, and null objects as their empty values. Made anew for each evaluation,
// which takes some microseconds: decisions are remembered (decision-memory.ts).

import type { CheckAnswer } from '../../api/check-answer.ts'
import {
  type MemberType,
  type ObjectName,
  type SeenMember,
  objectMembers,
} from './condition-members.ts'

/** The members of an answer that a condition sees. */
export type SeenAnswer = Pick<CheckAnswer, SeenMember>

/** The variables of a condition by name. */
export type Facts = Readonly<Record<string, unknown>>

type Members = Readonly<Record<string, unknown>>

const emptyValues = {
  bool: false,
  int: 0,
  double: 0,
  string: '',
  'list<string>': [],
} as const satisfies Record<MemberType, unknown>

/** By this class CEL knows the object's type. */
type FactClass = new (values: Members) => object

function factClass(types: Readonly<Record<string, MemberType>>): FactClass {
  const members = Object.entries(types)
  function Fact(this: Record<string, unknown>, values: Members): void {
    for (const [name, type] of members) {
      const value = values[name] ?? emptyValues[type]
      this[name] = type === 'int' ? BigInt(value as number) : value
    }
  }
  return Fact as unknown as FactClass
}

/** One class for each object of an answer. */
export const factClasses = Object.fromEntries(
  Object.entries(objectMembers).map(([name, types]) => [name, factClass(types)]),
) as Readonly<Record<ObjectName, FactClass>>

/** The facts of objects that many answers share (src/table/answer/answer-parts.ts). */
const known = new WeakMap<object, object>()

function factOf(name: ObjectName, values: Members): object {
  let fact = known.get(values)
  if (fact === undefined) {
    fact = new factClasses[name](values)
    known.set(values, fact)
  }
  return fact
}

const none: Members = Object.freeze({})
const empty = {
  network: new factClasses.network(none),
  location: new factClasses.location(none),
  proxy: new factClasses.proxy(none),
  bot: new factClasses.bot(none),
} as const

/** `lists`: the operator's own lists that match, by name. The answer's objects must not change. */
export function factsOf(answer: SeenAnswer, lists: readonly string[]): Facts {
  const { network, location, proxy, bot, signals } = answer
  return {
    risk_score: BigInt(answer.risk_score),
    risk_level: answer.risk_level,
    classification: answer.classification,
    version: BigInt(answer.version),
    reasons: answer.reasons,
    lists,
    network: network === null ? empty.network : factOf('network', network),
    location: location === null ? empty.location : factOf('location', location),
    proxy: proxy === null ? empty.proxy : factOf('proxy', proxy),
    bot: bot === null ? empty.bot : factOf('bot', bot),
    signals: factOf('signals', signals),
  }
}
