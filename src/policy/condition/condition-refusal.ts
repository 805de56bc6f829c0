// Refuses what a condition may not contain, though it is CEL: whatever could fail or take long, and
// what can never be true. Everything else is refused by default.
//
//   allowed   members of the answer and `lists`; literals; == != < <= > >= in && || ! ?: + - and lists;
//             the functions of condition-functions.ts, loops not inside each other
//   refused   * / % (overflow, division by zero), indexes (out of range), conversions, dyn, maps,
//             bytes, null (a null object's members read as empty), regular expressions
//
// Sums are exact: members are below 2^32 and literals at most 10^13; 4,000 characters hold fewer
// than 300 of them, which stays below 2^53.

import type { ASTNode } from '@marcbachmann/cel-js'
import { suggestName } from '../../config/setting-problem.ts'
import { functionNames, loops, methods } from './condition-functions.ts'
import { closedWords, memberNames, objectMembers, plainMembers } from './condition-members.ts'

/** `a || b || c` is two deep; 4,000 characters hold about 300 comparisons. */
export const operatorDepthMax = 500

/** A clause, and its place in the text. */
export interface Refusal {
  readonly message: string
  readonly at: number
}

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])
const connectives: ReadonlySet<string> = new Set(['&&', '||', '!_', '?:', '+', '-', '-_', 'list'])

const advice: Readonly<Record<string, string>> = {
  '*': 'multiply the limit instead',
  '/': 'multiply the limit instead',
  '%': 'it may divide by zero',
  '[]': 'an element may be missing; use `in`',
  map: 'conditions do not need it',
  matches: 'regular expressions can be slow; use startsWith, endsWith or contains',
  has: 'every member is always present; compare it with its empty value',
}

type Scope = ReadonlySet<string>

const outside: Scope = new Set()

export function findRefusal(node: ASTNode, scope: Scope = outside): Refusal | undefined {
  const { op } = node
  if (op === 'value') return refuseLiteral(node)
  if (op === 'id') return refuseName(node, node.args, scope)
  if (op === '.') return refuseMember(node, node.args, scope)
  if (op === 'call') {
    const [name, args] = node.args
    return name === 'size' ? refuseAny(args, scope) : refuseFunction(node, name)
  }
  if (op === 'rcall') return refuseMethod(node, node.args, scope)
  if (comparisons.has(op) || op === 'in') {
    const [left, right] = node.args as readonly [ASTNode, ASTNode]
    return refuseWords(left, right) ?? refuseWords(right, left) ?? refuseAny(node.args, scope)
  }
  if (connectives.has(op)) return refuseAny(node.args, scope)
  return refusal(node, `${quoted(op)} is not allowed`, op)
}

/** Members of the answer, and variables of loops. */
export function namesRead(operands: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (isNode(operands)) {
    if (operands.op === 'id') names.add(operands.args)
    else namesRead(operands.args, names)
  } else if (Array.isArray(operands)) {
    for (const one of operands as readonly unknown[]) namesRead(one, names)
  }
  return names
}

function refusal(node: ASTNode, message: string, about = ''): Refusal {
  const more = advice[about]
  return { message: more === undefined ? message : `${message}: ${more}`, at: node.start }
}

const quoted = (text: string): string => `\`${text}\``

export function isTooDeep(ast: ASTNode): boolean {
  const open: (readonly [unknown, number])[] = [[ast, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (Array.isArray(value)) for (const one of value as unknown[]) open.push([one, depth])
    if (!isNode(value)) continue
    if (depth > operatorDepthMax) return true
    open.push([value.args, depth + 1])
  }
  return false
}

/** `risk_score`, `network.asn`. */
export function memberPath({ op, args }: ASTNode): string | undefined {
  if (op === 'id') return args
  if (op !== '.') return undefined
  const [object, member] = args
  return object.op === 'id' ? `${object.args}.${member}` : undefined
}

export function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value
}

function refuseAny(operands: unknown, scope: Scope): Refusal | undefined {
  if (isNode(operands)) return findRefusal(operands, scope)
  for (const one of Array.isArray(operands) ? (operands as readonly unknown[]) : []) {
    const found = refuseAny(one, scope)
    if (found !== undefined) return found
  }
  return undefined
}

const literalMax = 10n ** 13n

function refuseLiteral(node: ASTNode): Refusal | undefined {
  const value: unknown = node.args
  if (value === null) {
    return refusal(node, 'null is not allowed: members of a null object read as empty')
  }
  if (typeof value === 'bigint') {
    return value <= literalMax ? undefined : refusal(node, 'the number is too large')
  }
  if (typeof value === 'object') {
    return refusal(node, 'bytes and unsigned numbers are not allowed')
  }
  return undefined
}

function refuseName(node: ASTNode, name: string, scope: Scope): Refusal | undefined {
  if (scope.has(name) || Object.hasOwn(plainMembers, name)) return undefined
  if (Object.hasOwn(objectMembers, name)) {
    const members = Object.keys(membersOf(name)).join(', ')
    return refusal(node, `${name} is an object; name one of its members: ${members}`)
  }
  return refusal(node, `unknown member ${name}${suggestName(name, memberNames)}`)
}

function membersOf(name: string): Readonly<Record<string, string>> {
  return objectMembers[name as keyof typeof objectMembers]
}

function refuseMember(
  node: ASTNode,
  [object, member]: readonly [ASTNode, string],
  scope: Scope,
): Refusal | undefined {
  if (object.op !== 'id' || scope.has(object.args) || !Object.hasOwn(objectMembers, object.args)) {
    return refuseAny(object, scope) ?? refusal(node, `it has no member ${member}`)
  }
  const members = membersOf(object.args)
  if (Object.hasOwn(members, member)) return undefined
  const known = suggestName(member, Object.keys(members))
  return refusal(node, `${object.args} has no member ${member}${known}`)
}

function refuseFunction(node: ASTNode, name: string): Refusal {
  const known = advice[name] === undefined ? `; known: ${functionNames.join(', ')}` : ''
  return refusal(node, `the function ${name} is not allowed${known}`, name)
}

function refuseMethod(
  node: ASTNode,
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  scope: Scope,
): Refusal | undefined {
  if (Object.hasOwn(methods, name)) return refuseAny([receiver, ...args], scope)
  if (!Object.hasOwn(loops, name)) return refuseFunction(node, name)
  if (scope.size > 0) return refusal(node, `${name} inside another loop is not allowed`)
  const [variable, ...rest] = args
  if (variable?.op !== 'id')
    return refusal(node, `${name} needs a variable name as its first argument`)
  return refuseAny(receiver, scope) ?? refuseAny(rest, new Set([variable.args]))
}

/** Words that the member's closed list lacks. */
function refuseWords(member: ASTNode, words: ASTNode): Refusal | undefined {
  const path = memberPath(member)
  const known = path === undefined ? undefined : closedWords.get(path)
  if (path === undefined || known === undefined) return undefined
  for (const one of words.op === 'list' ? words.args : [words]) {
    if (one.op !== 'value' || typeof one.args !== 'string' || known.includes(one.args)) continue
    const near = suggestName(one.args, known.filter(Boolean))
    return refusal(one, `${path} is never ${JSON.stringify(one.args)}${near}`)
  }
  return undefined
}
