// What a condition may continue with at the cursor: the facts of an answer, their functions, and in
// quotes the values of the fact before them.
//
//   signals.t|                            signals.tor
//   network.type in ["isp", "ho|          hosting
//   "tor_e|                               tor_exit_listed, or the name of an own list

import { countries } from '../../../model/countries.ts'
import { functionNames } from '../../../policy/condition/condition-functions.ts'
import {
  closedWords,
  objectMembers,
  plainMembers,
} from '../../../policy/condition/condition-members.ts'
import { listReasonTexts, reasonTexts } from '../../../score/points/reason-codes.ts'

const facts = new Map<string, string>([
  ...Object.entries(plainMembers),
  ...Object.entries(objectMembers).flatMap(([name, of]) =>
    Object.entries(of).map(([member, type]) => [`${name}.${member}`, type] as const),
  ),
])

const quoted =
  /(?:(?<![\w.])([\w.]+)\s*(?:==|!=|in)\s*(?:\[\s*)?(?:(?:"[^"]*"|'[^']*')\s*,\s*)*)?(["'])([^"']*)$/
const word = /(?:^|[^\w.])([a-z_][\w.]*)$/i

export type Completions = NonNullable<ReturnType<typeof completionsAt>>

/** Replacements of the text from `from` to the cursor; `isAsked`: also where nothing is typed yet. */
export function completionsAt(before: string, lists: readonly string[], isAsked = false) {
  const isQuoted = before.replace(/"[^"]*"|'[^']*'/g, '').search(/["']/) >= 0
  const [, fact = '', , value = ''] = (isQuoted && quoted.exec(before)) || []
  const typed = isQuoted ? value : (word.exec(before)?.[1] ?? '')
  if (typed === '' && !isAsked && !isQuoted) return undefined
  const all = isQuoted ? valuesOf(fact, lists) : [...facts.keys(), ...functionsOf(typed)]
  const wanted = typed.toLowerCase()
  const place = (one: string): number => one.toLowerCase().indexOf(wanted)
  // Those that begin with it come first.
  const options = all
    .filter((one) => place(one) >= 0)
    .toSorted((a, b) => Math.sign(place(a)) - Math.sign(place(b)))
  if (options.length === 0 || options.includes(typed)) return undefined
  return { from: before.length - typed.length, options }
}

function valuesOf(fact: string, lists: readonly string[]): readonly string[] {
  if (fact === 'location.country_code') return countries.map(({ code }) => code)
  const words = closedWords.get(fact)
  if (words !== undefined) return words.filter(Boolean)
  return fact === '' ? [...Object.keys({ ...reasonTexts, ...listReasonTexts }), ...lists] : []
}

/** `reasons.` as `reasons.exists(`, for a text or list. */
function functionsOf(typed: string): readonly string[] {
  const fact = typed.slice(0, typed.lastIndexOf('.'))
  const isLong = /^(?:string|list<string>)$/.test(facts.get(fact) ?? '')
  return isLong ? functionNames.map((name) => `${fact}.${name}(`) : []
}
