// Reads and checks a policies file: JSON, its members (policy-schema.ts), its conditions
// (condition.ts). Either all of it is valid, or every mistake is reported with its place.
// Warnings are about valid content that cannot be intended: a comparison that never matches, a
// repeated member. `checkWritten` rejects them in new policies; an existing file is still used.

import { createHash } from 'node:crypto'
import { type IpriskError, messageOf, inputError } from '../base/coded-error.ts'
import { policiesBytesMax, policyStepsMax } from '../base/limits.ts'
import { parseJson } from '../base/json-object.ts'
import { decodeText } from '../base/text/byte-order-mark.ts'
import { repeatedMessage } from '../base/text/repeated-members.ts'
import { type TrustedFile, readTrustedFile } from '../base/system/trusted-file.ts'
import { formatCount } from '../base/text/number-format.ts'
import { parseJsonContent } from '../config/json-content.ts'
import { editDistance, suggestName } from '../config/setting-problem.ts'
import { valueAt } from '../config/setting-tree.ts'
import type { Finding } from './condition/condition.ts'
import { compileAhead, compileCondition, tooManySteps, warningsMax } from './condition/condition.ts'
import {
  type PolicyIssue,
  type WrittenPolicies,
  membersByDepth,
  policiesSchema,
} from './policy-schema.ts'
import type { Policies } from '../model/policy-form.ts'
import { type PolicyPlace, hasPolicies } from './policy-place.ts'

export interface PolicyFile extends CheckedPolicies {
  readonly path: string
  /** Hash of its bytes, descriptions included. */
  readonly tag: string
  /** Why it would not be used without being named. */
  readonly distrust: string | undefined
}

/**
 * `undefined` if the default file does not exist. Throws `policies_invalid`, whose lines are the
 * mistakes.
 */
export function readPolicyFile(place: PolicyPlace): PolicyFile | undefined {
  const file = readTrusted(place)
  return file && policyFileOf(place, file)
}

/** In turns of the event loop. */
export async function readPolicyFileInTurns(place: PolicyPlace): Promise<PolicyFile | undefined> {
  const file = readTrusted(place)
  if (file === undefined) return undefined
  await compileAhead(parseJson(decodeText(file.bytes)))
  return policyFileOf(place, file)
}

function readTrusted(place: PolicyPlace): TrustedFile | undefined {
  if (!hasPolicies(place)) return undefined
  const { path, named } = place
  try {
    return readTrustedFile(path, { bytesMax: policiesBytesMax, named, flag: '--policies' })
  } catch (thrown) {
    throw policiesInvalid(path, [`cannot be read: ${messageOf(thrown)}`])
  }
}

function policyFileOf({ path }: PolicyPlace, { bytes, distrust }: TrustedFile): PolicyFile {
  const checked = checkPolicies(decodeText(bytes))
  if ('mistakes' in checked) throw policiesInvalid(path, checked.mistakes)
  return { path, tag: shortHash(bytes), ...checked, distrust }
}

export function policiesInvalid(
  path: string,
  mistakes: readonly string[],
  may = 'cannot',
): IpriskError {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`
  return inputError('policies_invalid', `The policies in ${path} ${may} be used (${count}):`, {
    details: mistakes.map((mistake) => `  ${mistake}`),
  })
}

export function warningLines({ path, warnings }: PolicyFile): readonly string[] {
  return warnings.map((warning) => `iprisk: warning: ${path}: ${warning}`)
}

export interface CheckedPolicies {
  readonly policies: Policies
  readonly written: WrittenPolicies
  /** With their places; about a hundred at most. */
  readonly warnings: readonly string[]
}

interface Mistaken {
  readonly mistakes: readonly string[]
}

/** In turns of the event loop. */
export async function checkWrittenInTurns(content: object): Promise<CheckedPolicies | Mistaken> {
  const text = JSON.stringify(content)
  if (Buffer.byteLength(text) > policiesBytesMax) return { mistakes: [fileTooLong] }
  await compileAhead(content)
  return checkWritten(text)
}

export const fileTooLong = `a policies file has at most ${policiesBytesMax} bytes`

/** A warning counts as a mistake. */
export function checkWritten(text: string): CheckedPolicies | Mistaken {
  const checked = checkPolicies(text)
  if ('mistakes' in checked || checked.warnings.length === 0) return checked
  return { mistakes: checked.warnings }
}

export function checkPolicies(text: string): CheckedPolicies | Mistaken {
  const parsed = parseJsonContent(text)
  if ('failure' in parsed) {
    return {
      mistakes: [parsed.name === undefined ? parsed.failure : `${parsed.name}: ${parsed.failure}`],
    }
  }
  const { content, repeated } = parsed
  const judged = policiesSchema.safeParse(content)
  const mistakes = (judged.error?.issues ?? []).flatMap((issue) => mistakesOf(issue, content))
  // Places of conditions are only known then.
  if (judged.data === undefined) return { mistakes }
  const named = Object.entries(judged.data.policies).sort(([a], [b]) => (a < b ? -1 : 1))
  const warnings = repeated.map(repeatedMessage)
  const wrong = named.flatMap(([name, policy]) => {
    warnings.push(...actionWarnings(name, policy))
    return [...repeatedNames(name, policy.rules), ...conditionMistakes(name, policy, warnings)]
  })
  if (wrong.length > 0) return { mistakes: wrong }
  return { policies: policiesOf(named), written: judged.data.policies, warnings }
}

type WrittenPolicy = WrittenPolicies[string]

/** In name order, without descriptions. */
function policiesOf(named: readonly (readonly [string, WrittenPolicy])[]): Policies {
  const policies = Object.fromEntries(
    named.map(([name, { rules: written, otherwise }]) => {
      const rules = written.map((rule) => {
        const { name, condition, action, observe } = rule
        return { name, condition, action, observe }
      })
      return [name, { rules, otherwise }]
    }),
  )
  return { revision: shortHash(JSON.stringify(policies)), policies }
}

/** Enough to tell one operator's machines or files apart. */
const hashChars = 16

function shortHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, hashChars)
}

function repeatedNames(policy: string, rules: WrittenPolicy['rules']): readonly string[] {
  return rules.flatMap(({ name }, index) => {
    if (rules.findIndex((rule) => rule.name === name) === index) return []
    return [`${rulePlace(policy, index, name)}.name: must differ from the names before it`]
  })
}

/** Contract 5.4: allow, challenge, block. */
const knownActions = ['allow', 'challenge', 'block']

/** Operators may use their own actions, but one edit away from these is a typo. */
function actionWarnings(policy: string, { rules, otherwise }: WrittenPolicy): readonly string[] {
  const actions = [
    ...rules.map(({ name, action }, index) => [rulePlace(policy, index, name), action] as const),
    [`policies.${policy}`, otherwise] as const,
  ]
  return actions.flatMap(([place, action], index) => {
    const meant = knownActions.find((known) => editDistance(action, known) === 1)
    if (meant === undefined) return []
    const member = index < rules.length ? 'action' : 'otherwise'
    return [`${place}.${member}: ${action} looks like a typo; did you mean ${meant}?`]
  })
}

function conditionMistakes(
  policy: string,
  { rules }: WrittenPolicy,
  warnings: string[],
): readonly string[] {
  let sum = 0
  let most = { steps: 0, place: '' }
  const mistakes = rules.flatMap(({ name, condition }, index) => {
    const compiled = compileCondition(condition)
    const place = `${rulePlace(policy, index, name)}.condition`
    if (compiled.kind === 'fault') return [findingText(place, compiled)]
    const { steps } = compiled
    sum += steps
    if (steps > most.steps) most = { steps, place }
    if (warnings.length < warningsMax) {
      warnings.push(...compiled.warnings.map((one) => findingText(place, one)))
    }
    return []
  })
  if (sum <= policyStepsMax) return mistakes
  const share = `this rule takes most of them, ${formatCount(most.steps)}`
  const together = `all rules of ${policy} together ${tooManySteps(sum)}; ${share}`
  return [...mistakes, `${most.place}: ${together}`]
}

export function findingText(place: string, { message, line, column }: Finding): string {
  const where = line === 1 ? `column ${column}` : `line ${line}, column ${column}`
  return `${place}, ${where}: ${message}`
}

/** `policies.default.rules[2] (vpn-abroad)`. */
function rulePlace(policy: string, index: number, name: string): string {
  return `policies.${policy}.rules[${index}] (${name})`
}

function mistakesOf(issue: PolicyIssue, content: unknown): readonly string[] {
  const { path, message } = issue
  const place = placeOf(path, content)
  const at = place === '' ? '' : `${place}: `
  if (issue.code === 'unrecognized_keys') {
    const known = membersByDepth[path.length] ?? []
    const below = place === '' ? '' : `${place}.`
    return issue.keys.map((key) => `${below}${key}: unknown member${suggestName(key, known)}`)
  }
  if (issue.code === 'invalid_key')
    return [`${at}its name must be ${issue.issues[0]?.message ?? ''}`]
  const missing = valueAt(content, path) === undefined ? 'missing; must' : 'must'
  return [`${at}${missing} be ${message}`]
}

/** `policies.default.rules[2] (vpn-abroad).action`: a rule's name where it has one. */
function placeOf(path: readonly PropertyKey[], content: unknown): string {
  let place = ''
  path.forEach((member, index) => {
    if (typeof member !== 'number') {
      place += `${place === '' ? '' : '.'}${String(member)}`
      return
    }
    const name = valueAt(content, [...path.slice(0, index + 1), 'name'])
    place += typeof name === 'string' ? `[${member}] (${name.slice(0, 40)})` : `[${member}]`
  })
  return place
}
