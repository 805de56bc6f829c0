// Comparisons of one member that exclude each other or are always true together:
// `location.country_code == "GB" && location.country_code == "IE"` never holds. Each comparison is
// tried with every value at which it could change: its literals, values between them, and closed
// lists. Parts that are not understood count as possible.

import type { ASTNode } from '@marcbachmann/cel-js'
import { type MemberType, objectMembers, plainMembers } from './condition-members.ts'
import { type Refusal, isNode, memberPath } from './condition-refusal.ts'
import { memberValues } from './member-values.ts'

type Value = string | number | boolean

interface Part {
  readonly path: string
  readonly holds: (value: Value) => boolean
  readonly literals: readonly Value[]
  readonly at: number
}

export interface Contradiction extends Refusal {
  readonly from: number
  readonly to: number
}

export function findContradictions(node: ASTNode, hidden?: string): readonly Contradiction[] {
  const { op, args } = node
  if (op === 'value' || op === 'id' || op === '.') return []
  if (op === 'rcall') {
    const [, receiver, [variable, ...rest]] = args
    const name = variable?.op === 'id' ? variable.args : undefined
    const inner = rest.flatMap((one) => findContradictions(one, name))
    return [...findContradictions(receiver, hidden), ...inner]
  }
  if (op === '&&' || op === '||') {
    const operands = chainOf(node, op)
    const below = operands.flatMap((one) => findContradictions(one, hidden))
    return below.length > 0 ? below : judgeChain(operands, op, hidden)
  }
  const operands = (Array.isArray(args) ? args : [args]) as readonly unknown[]
  return operands.flatMap((one) => (isNode(one) ? findContradictions(one, hidden) : []))
}

function chainOf(node: ASTNode, op: '&&' | '||'): readonly ASTNode[] {
  return node.op === op ? node.args.flatMap((one) => chainOf(one, op)) : [node]
}

function judgeChain(
  operands: readonly ASTNode[],
  op: '&&' | '||',
  hidden: string | undefined,
): readonly Contradiction[] {
  const byPath = new Map<string, Part[]>()
  for (const node of operands) {
    const part = partOf(node)
    if (part === undefined || part.path === hidden) continue
    byPath.set(part.path, [...(byPath.get(part.path) ?? []), part])
  }
  return [...byPath].flatMap(([path, parts]) => {
    if (parts.length < 2) return []
    const literals = parts.flatMap((part) => part.literals)
    const holds = joined(op, parts)
    // Every value gives the same: false for `&&`, true for `||`.
    if (valuesToTry(path, literals).some((value) => holds(value) === (op === '&&'))) return []
    const message =
      op === '&&'
        ? `no value of ${path} satisfies all these comparisons; did you mean || or in?`
        : `every value of ${path} satisfies one of these comparisons; did you mean &&?`
    const from = parts[0]!.at
    return [{ message, at: from, from, to: Math.max(...operands.map(({ end }) => end)) }]
  })
}

const joined =
  (op: '&&' | '||', parts: readonly Part[]) =>
  (value: Value): boolean =>
    op === '&&' ? parts.every(({ holds }) => holds(value)) : parts.some(({ holds }) => holds(value))

const typeOf = (path: string): MemberType | undefined => {
  const [object = '', member = ''] = path.split('.')
  if (member === '') return (plainMembers as Readonly<Record<string, MemberType>>)[object]
  const members = (objectMembers as Readonly<Record<string, Record<string, MemberType>>>)[object]
  return members?.[member]
}

function partOf(node: ASTNode): Part | undefined {
  const { op, args, start: at } = node
  if (op === '!_') {
    const part = partOf(args)
    return part && { ...part, at, holds: (value) => !part.holds(value) }
  }
  if (op === '&&' || op === '||') {
    const [left, right] = args.map(partOf)
    if (left === undefined || right === undefined || left.path !== right.path) return undefined
    const literals = [...left.literals, ...right.literals]
    return { path: left.path, holds: joined(op, [left, right]), literals, at }
  }
  const own = memberPath(node)
  if (own !== undefined) {
    if (typeOf(own) !== 'bool') return undefined
    return { path: own, holds: (value) => value === true, literals: [true, false], at }
  }
  return comparisonOf(node)
}

const orders: Readonly<Record<string, (left: Value, right: Value) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

function comparisonOf(node: ASTNode): Part | undefined {
  const { op, start: at } = node
  if (op !== '==' && op !== '!=' && op !== 'in' && orders[op] === undefined) return undefined
  const [left, right] = node.args as readonly [ASTNode, ASTNode]
  const isSwapped = op !== 'in' && memberPath(left) === undefined
  const [member, other] = isSwapped ? [right, left] : [left, right]
  const path = memberPath(member)
  const type = path === undefined ? undefined : typeOf(path)
  if (path === undefined || type === undefined || type === 'list<string>') return undefined
  const written = op === 'in' ? (other.op === 'list' ? other.args : []) : [other]
  const literals = written.map(literalOf).filter((one) => one !== undefined)
  if (literals.length === 0 || literals.length < written.length) return undefined
  const [literal] = literals as [Value]
  if (op === '==' || op === 'in') {
    return { path, literals, at, holds: (value) => literals.includes(value) }
  }
  if (op === '!=') return { path, literals, at, holds: (value) => value !== literal }
  const order = orders[op]!
  return {
    path,
    literals,
    at,
    holds: (value) => (isSwapped ? order(literal, value) : order(value, literal)),
  }
}

function literalOf(node: ASTNode): Value | undefined {
  if (node.op === '-_') {
    const value = literalOf(node.args)
    return typeof value === 'number' ? -value : undefined
  }
  if (node.op !== 'value') return undefined
  const value: unknown = node.args
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined
}

const otherText = '\u0000'

function valuesToTry(path: string, literals: readonly Value[]): readonly Value[] {
  const type = typeOf(path)
  if (type === 'bool') return [true, false]
  const known = memberValues.get(path)
  if (known === undefined || known.kind === 'text') {
    // The next text in order adds the smallest character.
    return (
      known?.words ?? [...literals.flatMap((one) => [one, `${one}${otherText}`]), '', otherText]
    )
  }
  if (known.values !== undefined) return known.values
  const { min, max } = known
  const bounds = [min, ...literals.map(Number), max].toSorted((a, b) => a - b)
  const between = bounds.flatMap((one, index) => [
    one - 1,
    Math.floor(one),
    one,
    (one + (bounds[index + 1] ?? one)) / 2,
    Math.ceil(one),
    one + 1,
  ])
  const isWhole = type === 'int'
  return between.filter((one) => one >= min && one <= max && (!isWhole || Number.isInteger(one)))
}
