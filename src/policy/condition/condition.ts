// One condition: CEL text in, a test of an answer's facts out, or why it cannot be used. Evaluating
// it never throws.
//
// A warning means that part of it never matches, or that it joins lists or texts. New policies with
// warnings are refused; existing files are loaded.

import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type * as Cel from '@marcbachmann/cel-js'
import { messageOf } from '../../base/coded-error.ts'
import { conditionCharsMax, policiesBytesMax, policyStepsMax } from '../../base/limits.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { placeAt } from '../../base/text/repeated-members.ts'
import { type Facts, objectMembers, plainMembers } from './condition-members.ts'
import { programOf } from './condition-program.ts'
import type { Refusal } from './condition-refusal.ts'
import { findRefusal, isTooDeep, namesRead, operatorDepthMax } from './condition-refusal.ts'
import { findWarnings } from './condition-warnings.ts'

export interface Condition {
  readonly kind: 'condition'
  readonly holds: (facts: Facts) => boolean
  /** May include some that it does not read. */
  readonly reads: ReadonlySet<string>
  /** For one evaluation (condition-program.ts). */
  readonly steps: number
  /** Parts that never or always hold, and syntax no longer allowed. Computed when first read. */
  readonly warnings: readonly Finding[]
}

export interface Finding {
  readonly message: string
  /** From 1, in characters of the condition's text. */
  readonly line: number
  readonly column: number
}

interface ConditionFault extends Finding {
  readonly kind: 'fault'
}

/** Bounds parsing; steps bound evaluation. */
const limits = { maxAstNodes: 4000, maxDepth: 40, maxListElements: 1000, maxCallArguments: 4 }

function newEnvironment(): Cel.Environment {
  // Loaded at the first condition: most servers and commands have none, and it is 14 modules.
  const require = createRequire(import.meta.url)
  const { Environment } = require('@marcbachmann/cel-js') as typeof Cel
  const environment = new Environment({ limits })
  for (const [name, type] of Object.entries(plainMembers)) {
    environment.registerVariable(name, type)
  }
  for (const [name, fields] of Object.entries(objectMembers)) {
    const type = `iprisk.${name}`
    environment.registerType(type, { fields })
    environment.registerVariable(name, type)
  }
  return environment
}

let known: Cel.Environment | undefined

const compiled = new Map<string, Condition | ConditionFault>()
let compiledChars = 0

export function compileCondition(text: string): Condition | ConditionFault {
  if (text.length > conditionCharsMax) {
    return faultAt(text, { message: `it is longer than ${conditionCharsMax} characters`, at: 0 })
  }
  let condition = compiled.get(text)
  if (condition !== undefined) return condition
  condition = compileAnew(text)
  compiled.set(text, condition)
  compiledChars += text.length
  for (const oldest of compiled.keys()) {
    if (compiledChars <= policiesBytesMax) break
    compiled.delete(oldest)
    compiledChars -= oldest.length
  }
  return condition
}

function compileAnew(text: string): Condition | ConditionFault {
  known ??= newEnvironment()
  let parsed: ReturnType<Cel.Environment['parse']>
  try {
    parsed = known.parse(text)
  } catch (thrown) {
    return faultAt(text, refusalOf(thrown))
  }
  if (isTooDeep(parsed.ast)) {
    const message = `more than ${operatorDepthMax} chained operators; use \`in\` with a list`
    return faultAt(text, { message, at: 0 })
  }
  const refused = findRefusal(parsed.ast)
  if (refused !== undefined) return faultAt(text, refused)
  const reads = namesRead(parsed.ast)
  const { valid, type, error } = parsed.check()
  if (!valid) return faultAt(text, refusalOf(error))
  if (type !== 'bool') {
    return faultAt(text, { message: `must be true or false, but has the type ${type}`, at: 0 })
  }
  const joins: number[] = []
  const { run, steps } = programOf(parsed.ast, { joins })
  if (steps > policyStepsMax) {
    return faultAt(text, { message: `it ${tooManySteps(steps)}`, at: 0 })
  }
  let warnings: readonly Finding[] | undefined
  return {
    kind: 'condition',
    holds: (facts) => run(facts, false) === true,
    reads,
    steps,
    get warnings() {
      const joined = joins.map((at) => ({ message: joinMessage, at }))
      warnings ??= [...findWarnings(parsed.ast), ...joined].map((one) => findingAt(text, one))
      return warnings
    },
  }
}

const joinMessage =
  '`+` on lists and strings is not allowed in new conditions; test each one and join the tests with `||`'

export function tooManySteps(steps: number): string {
  const [may, most] = [formatCount(steps), formatCount(policyStepsMax)]
  const advice = 'use fewer or simpler loops over `lists` and `reasons`'
  return `may take ${may} steps per address, more than the ${most} allowed; ${advice}`
}

/** The summary does not repeat the text. */
function refusalOf(thrown: unknown): Refusal {
  const { summary, range } = thrown as {
    readonly summary?: string
    readonly range?: { readonly start: number }
  }
  return { message: lowerFirst(summary ?? messageOf(thrown)), at: range?.start ?? 0 }
}

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

function faultAt(text: string, refusal: Refusal): ConditionFault {
  return { kind: 'fault', ...findingAt(text, refusal) }
}

function findingAt(text: string, { message, at }: Refusal): Finding {
  return { message, ...placeAt(text, at) }
}

/** Per turn; the longest conditions take a few milliseconds more. */
const turnMs = 5

/** Per file: finding a suggestion takes a millisecond or two each. */
export const warningsMax = 100

/**
 * Compiles the conditions of policies in turns of the event loop: the largest file takes a second
 * of a busy core. `content` is not validated yet. Also computes the warnings, unless
 * `needsWarnings` is false.
 */
export async function compileAhead(content: unknown, needsWarnings = true): Promise<void> {
  let begun = performance.now()
  let warnings = needsWarnings ? 0 : warningsMax
  for (const policy of valuesOf(memberOf(content, 'policies'))) {
    for (const rule of valuesOf(memberOf(policy, 'rules'))) {
      const condition = memberOf(rule, 'condition')
      if (typeof condition !== 'string') continue
      const compiled = compileCondition(condition)
      if (warnings < warningsMax && compiled.kind === 'condition') {
        warnings += compiled.warnings.length
      }
      if (performance.now() - begun < turnMs) continue
      await nextTurn()
      begun = performance.now()
    }
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]

const valuesOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []
