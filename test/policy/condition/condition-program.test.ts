// What a condition may take: its steps, computed when it is loaded, against a slow interpreter that
// counts them, on the largest facts; and what it says, against the library's own evaluation.

import { Environment, type ASTNode } from '@marcbachmann/cel-js'
import { type Arbitrary, assert, constantFrom, letrec, oneof, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tableTextBytesMax } from '../../../src/base/limits.ts'
import { checkListName } from '../../../src/lists/change-lists.ts'
import { listNameCharsMax, listsMax } from '../../../src/lists/list-limits.ts'
import { signalNames } from '../../../src/model/kind.ts'
import { compileCondition } from '../../../src/policy/condition/condition.ts'
import {
  type Facts,
  factsOf,
  objectMembers,
  plainMembers,
  type SeenAnswer,
} from '../../../src/policy/condition/condition-members.ts'
import { operatorDepthMax } from '../../../src/policy/condition/condition-refusal.ts'
import { charsPerStep } from '../../../src/policy/condition/condition-program.ts'
import type { Value } from '../../../src/policy/condition/condition-functions.ts'
import { reasonCodeBytesMax, reasonListMax } from '../../../src/schema/table-layout.ts'

const repeated = (count: number, text: string, between: string): string =>
  Array.from({ length: count }, () => text).join(between)

/** Alike to the last four characters, so that comparisons take longest. */
const alike = (count: number, chars: number): string[] =>
  Array.from({ length: count }, (_, i) => `${i}`.padStart(4, '0').padStart(chars, 'a'))

const text = 'a'.repeat(tableTextBytesMax)
const signals = Object.fromEntries(signalNames.map((name) => [name, true]))
const largestAnswer = {
  risk_score: 62,
  risk_level: 'high',
  classification: 'vpn',
  version: 4,
  reasons: alike(reasonListMax + 1, reasonCodeBytesMax),
  network: { asn: 64_496, organization: text, type: 'hosting', mobile: true },
  location: {
    ...Object.fromEntries(Object.keys(objectMembers.location).map((name) => [name, text])),
    latitude: 50.1,
    longitude: 8.6,
  },
  proxy: null,
  bot: { confidence: 'high', provider: text, category: 'other' },
  signals,
} as unknown as SeenAnswer
const largest = factsOf(largestAnswer, alike(listsMax, listNameCharsMax))
const smaller = factsOf({ ...largestAnswer, reasons: ['tor_exit_listed', 'aab'], network: null }, [
  'aab',
  'office',
  '',
])
const empty = factsOf(
  { ...largestAnswer, reasons: [], location: null, bot: null, network: null },
  [],
)

function load(condition: string): { readonly holds: (facts: Facts) => boolean; steps: number } {
  const compiled = compileCondition(condition)
  if (compiled.kind === 'fault') throw new Error(`${condition}: ${compiled.message}`)
  return compiled
}

const environment = new Environment({ limits: { maxAstNodes: 4000 } })
for (const [name, type] of Object.entries(plainMembers)) environment.registerVariable(name, type)
for (const [name, fields] of Object.entries(objectMembers)) {
  environment.registerType(`iprisk.${name}`, { fields })
  environment.registerVariable(name, `iprisk.${name}`)
}

/** The same facts as the library reads them: integers as BigInt, null objects empty. */
function libraryFacts(facts: Facts): Record<string, unknown> {
  const empties = { bool: false, int: 0, double: 0, string: '', 'list<string>': [] } as const
  const read = (type: keyof typeof empties, value: unknown): unknown =>
    type === 'int' ? BigInt((value ?? 0) as number) : (value ?? empties[type])
  const plain = Object.entries(plainMembers).map(([name, type]) => [
    name,
    read(type, facts[name as keyof Facts]),
  ])
  const objects = Object.entries(objectMembers).map(([name, members]) => [
    name,
    Object.fromEntries(
      Object.entries(members).map(([member, type]) => [
        member,
        read(type, (facts[name as keyof Facts] as Record<string, unknown> | null)?.[member]),
      ]),
    ),
  ])
  return Object.fromEntries([...plain, ...objects]) as Record<string, unknown>
}

/** Evaluates node by node, and counts what is done: the slow twin of condition-program.ts. */
function counted(
  condition: string,
  facts: Facts,
): { readonly value: Value; readonly steps: number } {
  const read = libraryFacts(facts)
  let steps = 0
  const chars = (count: number): number => Math.ceil(count / charsPerStep)
  const isLiteral = (node: ASTNode): boolean =>
    node.op === 'list'
      ? node.args.every(isLiteral)
      : node.op === 'value' || (node.op === '-_' && isLiteral(node.args))
  const same = (a: Value, b: Value): boolean => {
    steps += 1
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((one, i) => same(one as Value, b[i] as Value))
    }
    if (typeof a === 'string') steps += chars(Math.min(a.length, (b as string).length))
    return a === b
  }
  const compare = (op: string, a: Value, b: Value): boolean => {
    if (op === '==') return same(a, b)
    if (op === '!=') return !same(a, b)
    same(a, b)
    return op === '<' ? a < b : op === '<=' ? a <= b : op === '>' ? a > b : a >= b
  }
  const plus = (a: Value, b: Value): Value => {
    steps += 1
    if (Array.isArray(a)) {
      const both = [...(a as Value[]), ...(b as Value[])]
      steps += both.length
      return both
    }
    if (typeof a === 'string') steps += chars(a.length + (b as string).length)
    return (a as number) + (b as number)
  }
  const method = (name: string, on: Value, part: Value): Value => {
    steps += 1
    if (name === 'size') {
      if (typeof on === 'string') steps += on.length
      return typeof on === 'string' ? Array.from(on).length : (on as Value[]).length
    }
    const [a, b] = [on as string, part as string]
    steps += name === 'contains' ? a.length + b.length : chars(Math.min(a.length, b.length))
    if (name === 'contains') return a.includes(b)
    return name === 'startsWith' ? a.startsWith(b) : a.endsWith(b)
  }
  const loop = (name: string, list: readonly Value[], holds: (one: Value) => boolean): Value => {
    steps += 1
    const test = (one: Value): boolean => {
      steps += 2
      return holds(one)
    }
    if (name === 'exists') return list.some(test)
    if (name === 'all') return list.every(test)
    const held = list.filter(test)
    return name === 'filter' ? held : held.length === 1
  }
  const walk = (node: ASTNode, item?: { name: string; value: Value }): Value => {
    const { op } = node
    const at = (one: ASTNode): Value => walk(one, item)
    if (op === 'value') {
      steps += 1
      return typeof node.args === 'bigint' ? Number(node.args) : (node.args as Value)
    }
    if (op === 'id' || op === '.') {
      steps += 1
      const value =
        op === '.'
          ? (read[node.args[0].args as string] as Record<string, unknown>)[node.args[1]]
          : node.args === item?.name
            ? item.value
            : read[node.args]
      return typeof value === 'bigint' ? Number(value) : (value as Value)
    }
    if (op === 'list') {
      const before = steps
      const list = node.args.map(at)
      steps = isLiteral(node) ? before + 1 : steps + list.length + 1
      return list
    }
    if (op === '-_') {
      const value = -(at(node.args) as number)
      if (!isLiteral(node)) steps += 1
      return value
    }
    if (op === '!_') {
      steps += 1
      return !(at(node.args) as boolean)
    }
    if (op === '?:') {
      steps += 1
      return at(node.args[0]) === true ? at(node.args[1]) : at(node.args[2])
    }
    if (op === 'call') return method(node.args[0], at(node.args[1][0]!), '')
    if (op === 'rcall') {
      const [name, receiver, args] = node.args
      if (['exists', 'all', 'exists_one', 'filter'].includes(name)) {
        const [variable, predicate] = args as [ASTNode, ASTNode]
        return loop(name, at(receiver) as Value[], (value) =>
          Boolean(walk(predicate, { name: variable.args as string, value })),
        )
      }
      return method(name, at(receiver), args[0] === undefined ? '' : at(args[0]))
    }
    const [left, right] = node.args as [ASTNode, ASTNode]
    if (op === '&&' || op === '||') {
      steps += 2
      return op === '&&' ? at(left) === true && at(right) : at(left) === true || at(right)
    }
    const a = at(left)
    if (op === 'in' && isLiteral(right)) {
      steps += 1 + (typeof a === 'string' ? chars(a.length) : 0)
      const before = steps
      const isIn = (at(right) as Value[]).some((one) => same(a, one))
      steps = before
      return isIn
    }
    const b = at(right)
    if (op === 'in') {
      steps += 1
      return (b as Value[]).some((one) => same(a, one))
    }
    if (op === '+') return plus(a, b)
    if (op !== '-') return compare(op, a, b)
    steps += 1
    return (a as number) - (b as number)
  }
  const value = walk(environment.parse(condition).ast)
  return { value, steps }
}

type Sorts = Readonly<Record<'bool' | 'int' | 'text' | 'list', string>>

/** Conditions whose types are right; `item` stands for the element of the loop around them. */
function conditions(item?: string, body?: Arbitrary<string>): Arbitrary<string> {
  const { bool } = letrec<Sorts>((tie) => {
    const pair = (sort: keyof Sorts, ops: readonly string[]) =>
      tuple(tie(sort), constantFrom(...ops), tie(sort)).map(([a, op, b]) => `(${a} ${op} ${b})`)
    const chosen = (sort: keyof Sorts) =>
      tuple(tie('bool'), tie(sort), tie(sort)).map(([a, b, c]) => `(${a} ? ${b} : ${c})`)
    const loops = (names: readonly string[]) =>
      body === undefined
        ? []
        : [
            tuple(tie('list'), constantFrom(...names), body).map(
              ([list, name, test]) => `${list}.${name}(x, ${test})`,
            ),
          ]
    const texts = ['location.city', 'network.organization', 'bot.provider', '"aab"', '""', '"tor"']
    return {
      bool: oneof(
        { maxDepth: 4 },
        constantFrom('signals.vpn', 'network.mobile', 'false'),
        pair('bool', ['&&', '||']),
        tie('bool').map((a) => `!${a}`),
        chosen('bool'),
        pair('int', ['==', '!=', '<', '<=', '>', '>=']),
        pair('text', ['==', '!=', '<', '>=']),
        pair('list', ['==', '!=']),
        tuple(tie('text'), tie('list')).map(([a, b]) => `(${a} in ${b})`),
        tie('int').map((a) => `(${a} in [62, -1, 0])`),
        tie('text').map((a) => `(${a} in [location.state, "aab"])`),
        tuple(tie('text'), constantFrom('contains', 'startsWith', 'endsWith'), tie('text')).map(
          ([a, name, b]) => `${a}.${name}(${b})`,
        ),
        ...loops(['exists', 'all', 'exists_one']),
      ),
      int: oneof(
        { maxDepth: 3 },
        constantFrom('risk_score', 'network.asn', 'version', '1', '-7', '9000000000000'),
        pair('int', ['+', '-']),
        tie('int').map((a) => `(-${a})`),
        chosen('int'),
        tie('text').map((a) => `size(${a})`),
        tie('list').map((a) => `${a}.size()`),
      ),
      text: oneof(
        { maxDepth: 3 },
        constantFrom(...texts, ...(item === undefined ? [] : [item, item, item])),
        pair('text', ['+']),
        chosen('text'),
      ),
      list: oneof(
        { maxDepth: 2 },
        constantFrom('reasons', 'lists', '["aab", "tor"]', '[location.city, "a"]'),
        pair('list', ['+']),
        chosen('list'),
        ...loops(['filter']),
      ),
    }
  })
  return bool
}

const random = conditions(undefined, conditions('x'))

describe('the steps of a condition', () => {
  it('are never fewer than are counted on the largest facts', () => {
    let loaded = 0
    assert(
      property(random, (condition) => {
        const compiled = compileCondition(condition)
        if (compiled.kind === 'fault') return
        loaded += 1
        for (const facts of [largest, smaller, empty]) {
          const { value, steps } = counted(condition, facts)
          expect(compiled.holds(facts)).toBe(value)
          expect(compiled.steps).toBeGreaterThanOrEqual(steps)
        }
      }),
      { numRuns: 600 },
    )
    expect(loaded).toBeGreaterThan(300)
  })

  it.each([
    ['a comparison', 'risk_score >= 75', 3],
    ['a search in lists', '!("office" in lists)', 3 + 2 * listsMax + 1],
    ['a literal list', 'network.asn in [64496, 64511]', 2],
    ['a long one', `network.asn in [${repeated(600, '64496', ',')}]`, 2],
  ])('of %s are few', (_, condition, steps) => {
    expect(load(condition).steps).toBe(steps)
  })

  it('are exact where nothing is cut short', () => {
    const condition = 'lists.all(l, l.startsWith("aa"))'
    expect(counted(condition, largest).steps).toBe(load(condition).steps)
  })

  it('refuse slow conditions at their place', () => {
    const reasons = repeated(240, 'reasons', ',')
    const attack = `[${reasons}].exists(l, "zz" in (${repeated(900, 'l', '+')}))`
    expect(compileCondition(attack)).toMatchObject({ kind: 'fault' })
    const sums = repeated(9, `(${repeated(99, 'l', '+')})`, '+')
    const other = `[${reasons}].exists(l, "zz" in (${sums}))`
    expect(compileCondition(other)).toMatchObject({
      kind: 'fault',
      line: 1,
      column: 1,
      message: expect.stringMatching(
        /^it may take [\d,]{11,} steps per address, more than the 500,000 allowed; use fewer/,
      ),
    })
    const loop = `lists.exists(l, ${repeated(500, 'l == ""', '||')})`
    expect(compileCondition(loop)).toMatchObject({ kind: 'fault' })
  })

  it('count the largest possible facts', () => {
    expect(() => checkListName('a'.repeat(listNameCharsMax))).not.toThrow()
    expect(() => checkListName('a'.repeat(listNameCharsMax + 1))).toThrow(/not a valid list name/)
    expect(largest.reasons).toHaveLength(reasonListMax + 1)
  })
})

describe('what a condition says', () => {
  const facts = [smaller, empty, factsOf(largestAnswer, ['aab'])]
  const read = facts.map(libraryFacts)

  it('equals the library’s evaluation', () => {
    assert(
      property(random, (condition) => {
        const compiled = compileCondition(condition)
        if (compiled.kind === 'fault') return
        const evaluate = environment.parse(condition)
        facts.forEach((one, i) => {
          expect(compiled.holds(one), condition).toBe(evaluate(read[i]))
        })
      }),
      { numRuns: 3000 },
    )
  })

  it.each(['+', '-', '&&', '||'])('does not depend on how long a chain of %s is', (op) => {
    const term = op.length === 1 ? '1' : '(1==1)'
    const condition = (terms: number): string => {
      const chain = repeated(terms, term, op)
      return op.length === 1 ? `${chain} != 0` : chain
    }
    const most = op.length === 1 ? operatorDepthMax - 1 : Math.floor(3900 / 8)
    expect(load(condition(most)).holds(empty)).toBe(true)
    if (op.length > 1) return
    expect(compileCondition(condition(1900))).toMatchObject({
      kind: 'fault',
      message: expect.stringMatching(/^more than 500 chained operators; use `in`/),
    })
  })

  it('adds integers exactly', () => {
    const most = repeated(140, '9999999999999', '+')
    expect(load(`${most} == ${most} + 1`).holds(empty)).toBe(false)
  })
})
