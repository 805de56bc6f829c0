// Finds parts of a condition that never or always hold because of a literal that no answer has:
// `location.country_code == "UK"`, `risk_score > 100`. Each operand stands for the set of its
// possible values (member-values.ts); unknown ones cause no warning. Neither does a condition that
// is always true (`true`, `risk_score >= 0`): a catch-all rule.

import type { ASTNode } from '@marcbachmann/cel-js'
import { type Refusal, memberPath } from './condition-refusal.ts'
import { findContradictions } from './condition-contradictions.ts'
import { closedWords } from './condition-members.ts'
import { type NumberValues, type TextValues, listValues, memberValues } from './member-values.ts'

type Operand = (TextValues | NumberValues) & {
  readonly name: string
  readonly literals?: readonly ASTNode[] | undefined
}
type TextOperand = Extract<Operand, { readonly kind: 'text' }>
type NumberOperand = Extract<Operand, { readonly kind: 'number' }>

type Scope = ReadonlyMap<string, Operand | undefined>

const outside: Scope = new Map()

/** More are one mistake repeated, and each is compared with all words. */
const warningsMax = 10

const charsShown = 40

const quoted = (text: string): string =>
  JSON.stringify(text.length > charsShown ? `${text.slice(0, charsShown)}…` : text)

export function findWarnings(root: ASTNode): readonly Refusal[] {
  const found: Refusal[] = []
  visit(root, outside, found)
  const warnings = [...new Map(found.map((one) => [`${one.at} ${one.message}`, one])).values()]
  const more = findContradictions(root).filter(({ from, to }) => {
    return !warnings.some(({ at }) => at >= from && at <= to)
  })
  return [...warnings, ...more].toSorted((a, b) => a.at - b.at)
}

function visit(node: ASTNode, scope: Scope, found: Refusal[]): void {
  if (found.length >= warningsMax) return
  const { op, args } = node
  if (op === 'value' || op === 'id' || op === '.') return
  if (op === 'rcall') {
    const [name, receiver, [variable, ...rest]] = args
    visit(receiver, scope, found)
    if (variable === undefined) return
    if (isPartMethod(name)) {
      judgePart(name, operandOf(receiver, scope), operandOf(variable, scope), found)
      return
    }
    const inner = new Map(scope).set(variable.args as string, elementOf(receiver, scope))
    for (const one of rest) visit(one, inner, found)
    return
  }
  if (op === 'call') {
    for (const one of args[1]) visit(one, scope, found)
    return
  }
  const operands = Array.isArray(args) ? (args as readonly ASTNode[]) : [args]
  for (const one of operands) visit(one, scope, found)
  const [left, right] = operands
  if (left === undefined || right === undefined) return
  if (op === '==' || op === '!=') {
    judgeEqual(operandOf(left, scope), operandOf(right, scope), node, found)
    // A list that is written out is not empty, so an element of each must be equal.
    if (left.op === 'list' || right.op === 'list') {
      judgeEqual(elementOf(left, scope), elementOf(right, scope), node, found)
    }
  } else if (op === 'in') {
    const elements = right.op === 'list' ? right.args : undefined
    if (elements?.length === 0) found.push({ message: 'nothing is in `[]`', at: right.start })
    const others = elements?.map((one) => operandOf(one, scope)) ?? [elementOf(right, scope)]
    for (const one of others) judgeEqual(operandOf(left, scope), one, node, found)
  } else if (op === '<' || op === '<=' || op === '>' || op === '>=') {
    judgeOrder(op, operandOf(left, scope), operandOf(right, scope), { node, found })
  }
}

function operandOf(node: ASTNode, scope: Scope): Operand | undefined {
  const { op, args } = node
  if (op === 'value') return literalOf(node, args)
  if (op === 'id' && scope.has(args)) return scope.get(args)
  const path = memberPath(node)
  const values = path === undefined ? undefined : memberValues.get(path)
  if (path !== undefined) return values && { ...values, name: path }
  if (op === '?:') return unionOf([operandOf(args[1], scope), operandOf(args[2], scope)])
  if (op === '-_') return negated(operandOf(args, scope), node)
  if (op === '+' || op === '-') {
    const [left, right] = args.map((one) => operandOf(one, scope))
    if (left?.kind !== 'number' || right?.kind !== 'number') return undefined
    const other = op === '+' ? right : { min: -right.max, max: -right.min }
    const sum = { min: left.min + other.min, max: left.max + other.max }
    return { kind: 'number', name: 'the sum', ...sum }
  }
  if (op === 'call' && args[0] === 'size') return sizeOf(args[1][0], scope)
  if (op === 'rcall' && args[0] === 'size') return sizeOf(args[1], scope)
  return undefined
}

function literalOf(node: ASTNode, value: unknown): Operand | undefined {
  const literals = [node]
  if (typeof value === 'string') {
    const allows = (text: string): boolean => text === value
    const name = quoted(value)
    return { kind: 'text', name, words: [value], allows, hint: () => '', literals }
  }
  if (typeof value !== 'bigint' && typeof value !== 'number') return undefined
  const one = Number(value)
  return { kind: 'number', name: String(one), min: one, max: one, values: [one], literals }
}

function negated(operand: Operand | undefined, node: ASTNode): Operand | undefined {
  if (operand?.kind !== 'number') return undefined
  const { min, max, values, literals } = operand
  return {
    kind: 'number',
    name: `-${operand.name}`,
    min: -max,
    max: -min,
    values: values?.map((one) => -one),
    literals: literals && [node],
  }
}

/** Known if all are of one kind. */
function unionOf(operands: readonly (Operand | undefined)[]): Operand | undefined {
  const [first, ...rest] = operands
  let union = first
  for (const one of rest) {
    if (one === undefined || union === undefined) return undefined
    const literals = union.literals && one.literals && [...union.literals, ...one.literals]
    const more = { name: 'the value', literals }
    if (one.kind === 'number' && union.kind === 'number') {
      const values = union.values && one.values && [...union.values, ...one.values]
      const range = { min: Math.min(union.min, one.min), max: Math.max(union.max, one.max) }
      union = { kind: 'number', ...range, ...more, values }
    } else if (one.kind === 'text' && union.kind === 'text') {
      if (one.words === undefined || union.words === undefined) return undefined
      const words = [...union.words, ...one.words]
      const allows = (text: string): boolean => words.includes(text)
      union = { kind: 'text', words, allows, hint: () => '', ...more }
    } else return undefined
  }
  return union
}

function elementOf(list: ASTNode, scope: Scope): Operand | undefined {
  if (list.op === 'list') return unionOf(list.args.map((one) => operandOf(one, scope)))
  if (list.op === 'rcall' && list.args[0] === 'filter') return elementOf(list.args[1], scope)
  const path = memberPath(list) ?? ''
  const values = listValues.get(path)
  return values && { ...values.of, name: path }
}

function sizeOf(of: ASTNode | undefined, scope: Scope): Operand | undefined {
  if (of === undefined) return undefined
  const size = (min: number, max: number): Operand => {
    return { kind: 'number', name: 'the size', min, max }
  }
  if (of.op === 'list') return size(of.args.length, of.args.length)
  if (of.op === 'rcall' && of.args[0] === 'filter') {
    const all = sizeOf(of.args[1], scope)
    return all?.kind === 'number' ? size(0, all.max) : undefined
  }
  const values = listValues.get(memberPath(of) ?? '')
  if (values !== undefined) return size(0, values.sizeMax)
  const operand = operandOf(of, scope)
  if (operand?.kind !== 'text' || operand.words === undefined) return size(0, Infinity)
  const sizes = operand.words.map((word) => word.length)
  return size(Math.min(...sizes), Math.max(...sizes))
}

/** No word is longer than the part that is compared. */
const hintOf = ({ hint }: TextValues, text: string): string => hint(text.slice(0, charsShown))

/** `reasons never has "x"`, `location.country_code is never "UK"`. */
function never({ name }: Operand, value: string): string {
  return listValues.has(name) ? `${name} never has ${value}` : `${name} is never ${value}`
}

function judgeEqual(
  left: Operand | undefined,
  right: Operand | undefined,
  node: ASTNode,
  found: Refusal[],
): void {
  if (left === undefined || right === undefined) return
  if (left.literals !== undefined && right.literals !== undefined) return
  if (left.literals === undefined && right.literals === undefined) {
    if (canBeEqual(left, right)) return
    const at = node.start
    if (listValues.has(right.name)) {
      found.push({ message: `${right.name} never contains ${left.name}`, at })
    } else found.push({ message: `${left.name} is never equal to ${right.name}`, at })
    return
  }
  const [member, literals] = left.literals === undefined ? [left, right] : [right, left]
  for (const [index, { start: at }] of literals.literals!.entries()) {
    if (found.length >= warningsMax) return
    if (member.kind === 'text' && literals.kind === 'text') {
      const text = literals.words![index]!
      if (member.allows(text)) continue
      found.push({ message: `${never(member, quoted(text))}${hintOf(member, text)}`, at })
    } else if (member.kind === 'number' && literals.kind === 'number') {
      const value = literals.values![index]!
      if (allowsNumber(member, value)) continue
      found.push({ message: `${never(member, String(value))}: ${rangeText(member)}`, at })
    }
  }
}

function canBeEqual(left: Operand, right: Operand): boolean {
  if (left.kind === 'text' && right.kind === 'text') {
    if (left.words !== undefined) return left.words.some(right.allows)
    return right.words === undefined || right.words.some(left.allows)
  }
  if (left.kind !== 'number' || right.kind !== 'number') return true
  return left.min <= right.max && right.min <= left.max
}

function allowsNumber({ min, max, values }: NumberValues, value: number): boolean {
  return values === undefined ? value >= min && value <= max : values.includes(value)
}

/** `risk_score is from 0 to 100`, `version is 4 or 6`. */
function rangeText({ name, min, max, values }: NumberOperand): string {
  if (values !== undefined) return `${name} is ${values.join(' or ')}`
  return max === Infinity ? `${name} is at least ${min}` : `${name} is from ${min} to ${max}`
}

type Order = '<' | '<=' | '>' | '>='

function judgeOrder(
  op: Order,
  left: Operand | undefined,
  right: Operand | undefined,
  { node, found }: { readonly node: ASTNode; readonly found: Refusal[] },
): void {
  if (left?.kind === 'text' && right?.kind === 'text') {
    judgeTextOrder(left, right, found)
    judgeTextOrder(right, left, found)
  }
  if (left?.kind !== 'number' || right?.kind !== 'number') return
  if (left.literals !== undefined && right.literals !== undefined) return
  const isLess = op === '<' || op === '<='
  const [low, high] = isLess ? [left, right] : [right, left]
  const isStrict = op === '<' || op === '>'
  const neverHolds = isStrict ? low.min >= high.max : low.min > high.max
  const alwaysHolds = isStrict ? low.max < high.min : low.max <= high.min
  // A bound that answers can reach: a catch-all rule.
  const isReached = low.max === high.min
  if (!neverHolds && (!alwaysHolds || isReached)) return
  const [known, { literals }] = left.literals === undefined ? [left, right] : [right, left]
  const at = literals?.[0]?.start ?? node.start
  const holds = neverHolds ? 'this is never true' : 'this is always true'
  found.push({ message: `${holds}: ${rangeText(known)}`, at })
}

/** `risk_level >= "high"` would be true for low, and for critical false. */
function judgeTextOrder(member: TextOperand, literals: TextOperand, found: Refusal[]): void {
  if (member.orders === undefined || literals.literals === undefined) return
  for (const [index, { start: at }] of literals.literals.entries()) {
    const text = literals.words![index]!
    if (member.orders(text)) continue
    if (closedWords.has(member.name)) {
      const better = member.name === 'risk_level' ? 'compare risk_score instead, or list' : 'list'
      const message = `${member.name} would be compared alphabetically; ${better} the words with in`
      found.push({ message, at })
    } else found.push({ message: `${never(member, quoted(text))}${hintOf(member, text)}`, at })
  }
}

const partMethods = {
  startsWith: 'starts with',
  endsWith: 'ends with',
  contains: 'contains',
} as const
type PartMethod = keyof typeof partMethods

const isPartMethod = (name: string): name is PartMethod => Object.hasOwn(partMethods, name)

function judgePart(
  method: PartMethod,
  whole: Operand | undefined,
  part: Operand | undefined,
  found: Refusal[],
): void {
  if (whole?.kind !== 'text' || part?.kind !== 'text' || whole.literals !== undefined) return
  const does = partMethods[method]
  const isPart = (whole: string, part: string): boolean =>
    method === 'contains' ? whole.includes(part) : whole[method](part)
  const { words, begins } = whole
  for (const [index, { start: at }] of (part.literals ?? []).entries()) {
    const text = part.words![index]!
    if (text === '') {
      found.push({ message: `every text ${does} ""`, at })
      continue
    }
    const mayBegin = method !== 'startsWith' || (begins?.(text) ?? true)
    if (words?.some((word) => isPart(word, text)) ?? mayBegin) continue
    const near = words?.find((word) => isPart(word.toLowerCase(), text.toLowerCase()))
    const hint = near === undefined ? '' : `; case matters, as in ${near}`
    const subject = listValues.has(whole.name) ? `nothing in ${whole.name}` : `${whole.name} never`
    found.push({ message: `${subject} ${does} ${quoted(text)}${hint}`, at })
  }
}
