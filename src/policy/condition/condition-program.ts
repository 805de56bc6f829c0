// Compiles a checked condition (condition.ts) to closures and bounds their work: the steps that
// each part may take on the largest facts, and the largest size of its value.
//
//   one step    an operation (two for `&&` and `||`: long chains miss the caches); a list element
//               visited or copied; a character searched or counted; `charsPerStep` characters compared
//               or joined. About 10 ns (`npm run bench -- conditions`), more on a busy machine.
//
// The library's own evaluation is the slow twin in tests. Here lists of literals are built once,
// and `in` looks up a set. Invariants: an evaluation never takes more steps than its bound; no
// value is larger than its size. Tables' acceptance and the lists' limits hold the sizes of facts.

import type { ASTNode } from '@marcbachmann/cel-js'
import { tableTextBytesMax } from '../../base/limits.ts'
import { listNameCharsMax, listsMax } from '../../lists/list-limits.ts'
import { travelDoubts } from '../../model/kind.ts'
import { reasonCodeBytesMax, reasonListMax } from '../../schema/table-layout.ts'
import { type Facts, type MemberType, objectMembers, plainMembers } from './condition-members.ts'
import { type Value, loops, methods } from './condition-functions.ts'

/** `item` is the current element of the enclosing loop. */
type Run = (facts: Facts, item: Value) => Value

export interface Program {
  readonly run: Run
  readonly steps: number
  readonly size: Size
  readonly literal?: Value
}

/** Characters of a text; elements of a list and the size of each. */
interface Size {
  readonly kind: 'scalar' | 'text' | 'list'
  readonly chars: number
  readonly elements: number
  readonly each?: Size | undefined
}

export const charsPerStep = 8

const scalar: Size = { kind: 'scalar', chars: 0, elements: 0 }
const textOf = (chars: number): Size => ({ kind: 'text', chars, elements: 0 })
const listOf = (elements: number, each: Size): Size => ({ kind: 'list', chars: 0, elements, each })

const tableText = textOf(tableTextBytesMax)
/** An own list adds one reason. */
const reasonsMax = reasonListMax + 1
const listSizes: Readonly<Record<string, Size>> = {
  reasons: listOf(reasonsMax, textOf(reasonCodeBytesMax)),
  lists: listOf(listsMax, textOf(listNameCharsMax)),
  'travel.unreliable_because': listOf(
    travelDoubts.length,
    textOf(Math.max(...travelDoubts.map((word) => word.length))),
  ),
}
const sizeOf = (type: MemberType, path: string): Size =>
  type === 'list<string>' ? listSizes[path]! : type === 'string' ? tableText : scalar

const emptyValues: Readonly<Record<MemberType, Value>> = {
  bool: false,
  int: 0,
  double: 0,
  string: '',
  'list<string>': [],
}

interface Scope {
  readonly variable?: { readonly name: string; readonly size: Size }
  /** Collects the place of each `+` that joins lists or texts. */
  readonly joins: number[]
}

/** `node` has passed `findRefusal` and the type check. */
export function programOf(node: ASTNode, scope: Scope): Program {
  const { op, args } = node
  const compile = (one: ASTNode): Program => programOf(one, scope)
  if (op === 'value') return literalProgram(typeof args === 'bigint' ? Number(args) : args)
  if (op === 'id') return nameProgram(args, scope)
  if (op === '.') return memberProgram(args)
  if (op === 'list') return listProgram(args.map(compile))
  if (op === 'call') return methodProgram(args[0], args[1].map(compile))
  if (op === 'rcall') {
    const [name, receiver, rest] = args
    const on = compile(receiver)
    return Object.hasOwn(loops, name)
      ? loopProgram(name, on, rest, scope)
      : methodProgram(name, [on, ...rest.map(compile)])
  }
  if (op === '!_' || op === '-_') return unaryProgram(op, compile(args))
  const [first, second, third] = (args as readonly ASTNode[]).map(compile)
  if (op === '?:') return chosenProgram(first!, second!, third!)
  // A chain of joins counts once.
  const isJoin = op === '+' && first!.size.kind !== 'scalar'
  if (isJoin && scope.joins.at(-1) !== node.start) scope.joins.push(node.start)
  return operatorProgram(op, first!, second!)
}

function unaryProgram(op: '!_' | '-_', { run, steps, literal }: Program): Program {
  if (op === '!_') {
    return { run: (facts, item) => run(facts, item) !== true, steps: steps + 1, size: scalar }
  }
  if (literal !== undefined) return literalProgram(-(literal as number))
  return { run: (facts, item) => -(run(facts, item) as number), steps: steps + 1, size: scalar }
}

function literalProgram(literal: unknown): Program {
  const value = literal as Value
  const size = typeof value === 'string' ? textOf(value.length) : scalar
  return { run: () => value, steps: 1, size, literal: value }
}

function nameProgram(name: string, { variable }: Scope): Program {
  if (name === variable?.name) return { run: (_, item) => item, steps: 1, size: variable.size }
  const member = name as keyof typeof plainMembers
  const size = sizeOf(plainMembers[member], member)
  return { run: (facts) => facts[member], steps: 1, size }
}

function memberProgram([object, member]: readonly [ASTNode, string]): Program {
  const name = object.args as keyof typeof objectMembers
  const type = (objectMembers[name] as Readonly<Record<string, MemberType>>)[member]!
  const empty = emptyValues[type]
  const run: Run = (facts) =>
    (facts[name] as Readonly<Record<string, Value>> | null | undefined)?.[member] ?? empty
  return { run, steps: 1, size: sizeOf(type, `${name}.${member}`) }
}

function listProgram(elements: readonly Program[]): Program {
  const size = listOf(elements.length, elements.map((one) => one.size).reduce(larger, scalar))
  const literals = elements.flatMap(({ literal }) => (literal === undefined ? [] : [literal]))
  if (literals.length === elements.length) {
    return { run: () => literals, steps: 1, size, literal: literals }
  }
  const runs = elements.map(({ run }) => run)
  return {
    run: (facts, item) => runs.map((run) => run(facts, item)),
    steps: sumOf(elements) + elements.length + 1,
    size,
  }
}

function chosenProgram(test: Program, yes: Program, no: Program): Program {
  return {
    run: (facts, item) => (test.run(facts, item) === true ? yes : no).run(facts, item),
    steps: test.steps + Math.max(yes.steps, no.steps) + 1,
    size: larger(yes.size, no.size),
  }
}

type Operator = (left: Value, right: Value) => Value

const operators: Readonly<Record<string, Operator>> = {
  '==': equal,
  '!=': (a, b) => !equal(a, b),
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '-': (a, b) => (a as number) - (b as number),
  '+': (a, b) => (Array.isArray(a) ? [...a, ...(b as readonly Value[])] : added(a, b)),
  in: (a, b) => (b as readonly Value[]).some((one) => equal(a, one)),
}

const added = (a: Value, b: Value): Value => (a as number) + (b as number)

function equal(a: Value, b: Value): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((one, index) => equal(one, b[index]!))
}

function operatorProgram(op: string, left: Program, right: Program): Program {
  const { run: a } = left
  const { run: b } = right
  const operands = left.steps + right.steps
  if (op === '&&' || op === '||') {
    const run: Run =
      op === '&&'
        ? (facts, item) => a(facts, item) === true && b(facts, item)
        : (facts, item) => a(facts, item) === true || b(facts, item)
    return { run, steps: operands + 2, size: scalar }
  }
  if (op === 'in' && right.literal !== undefined && right.size.each!.elements === 0) {
    const known = new Set(right.literal as readonly Value[])
    const steps = left.steps + 1 + stepsOfChars(left.size.chars)
    return { run: (facts, item) => known.has(a(facts, item)), steps, size: scalar }
  }
  const operator = operators[op]!
  return {
    run: (facts, item) => operator(a(facts, item), b(facts, item)),
    steps: operands + operatorSteps(op, left.size, right.size),
    size: op === '+' ? sumOfSizes(left.size, right.size) : scalar,
  }
}

function operatorSteps(op: string, left: Size, right: Size): number {
  if (op === '+') {
    return 1 + left.elements + right.elements + stepsOfChars(left.chars + right.chars)
  }
  return op === 'in' ? 1 + right.elements * equalSteps(left, right.each!) : equalSteps(left, right)
}

/** Different lengths differ at once. */
function equalSteps(left: Size, right: Size): number {
  const elements = Math.min(left.elements, right.elements)
  const each = elements === 0 ? 0 : equalSteps(left.each!, right.each!)
  return 1 + stepsOfChars(Math.min(left.chars, right.chars)) + elements * each
}

function methodProgram(name: string, [on, part]: readonly Program[]): Program {
  const method = methods[name]!
  if (part === undefined) {
    const { run, steps, size } = on!
    const whole: Run = (facts, item) => method(run(facts, item), '')
    return { run: whole, steps: steps + 1 + size.chars, size: scalar }
  }
  const { chars } = part.size
  const looked =
    name === 'contains' ? on!.size.chars + chars : stepsOfChars(Math.min(on!.size.chars, chars))
  return {
    run: (facts, item) => method(on!.run(facts, item), part.run(facts, item)),
    steps: on!.steps + part.steps + 1 + looked,
    size: scalar,
  }
}

function loopProgram(
  name: string,
  { run, steps, size }: Program,
  [element, predicate]: readonly ASTNode[],
  { joins }: Scope,
): Program {
  const loop = loops[name]!
  const variable = { name: element!.args as string, size: size.each ?? scalar }
  const test = programOf(predicate!, { variable, joins })
  return {
    run: (facts, item) =>
      loop(run(facts, item) as readonly Value[], (one) => test.run(facts, one) === true),
    steps: steps + 1 + size.elements * (test.steps + 2),
    size: name === 'filter' ? size : scalar,
  }
}

const stepsOfChars = (chars: number): number => Math.ceil(chars / charsPerStep)

const sumOf = (programs: readonly Program[]): number =>
  programs.reduce((sum, { steps }) => sum + steps, 0)

const larger = (left: Size, right: Size): Size => combined(left, right, Math.max)

const sumOfSizes = (left: Size, right: Size): Size => combined(left, right, (a, b) => a + b)

function combined(left: Size, right: Size, of: (a: number, b: number) => number): Size {
  const isBoth = left.each !== undefined && right.each !== undefined
  return {
    kind: left.kind === 'scalar' ? right.kind : left.kind,
    chars: of(left.chars, right.chars),
    elements: of(left.elements, right.elements),
    each: isBoth ? larger(left.each, right.each) : (left.each ?? right.each),
  }
}
