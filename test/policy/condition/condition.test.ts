// Conditions: what they see, what is refused when they are loaded and where, and that no condition
// that was loaded fails on any answer.

import { assert, constantFrom, letrec, oneof, property, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCondition } from '../../../src/policy/condition/condition.ts'
import {
  closedWords,
  factsOf,
  objectMembers,
  plainMembers,
} from '../../../src/policy/condition/condition-members.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const table = openTable(writeSmallTable())

/** What the condition says of the address. */
function holds(text: string, address: string, lists: readonly string[] = []): boolean {
  const compiled = compileCondition(text)
  if (compiled.kind === 'fault') throw new Error(compiled.message)
  return compiled.holds(factsOf(table.check(address)!, lists))
}

describe('a condition', () => {
  it.each([
    ['risk_score >= 75 && !("office" in lists)', '9.1.2.3', true],
    ['risk_score > 80.5', '9.1.2.3', true],
    ['signals.vpn && location.country_code in ["DE"]', '9.200.1.1', false],
    ['signals.vpn || signals.tor', '9.200.1.1', true],
    ['classification == "tor" && network.asn == 64496', '9.1.2.3', true],
    ['network.asn in [64497, 64498]', '11.5.5.5', true],
    ['network.asn == 0 && network.type == "" && !network.mobile', '13.0.0.1', true],
    ['location.country_code == "" && location.latitude < 0.5', '13.0.0.1', true],
    ['proxy.type == "" && proxy.percent_days_seen < 1.0 && bot.provider == ""', '13.0.0.1', true],
    ['bot.provider.startsWith("Example") && bot.category == "search_crawler"', '11.66.1.1', true],
    ['version == 6', '2a01:4f8::1', true],
    ['version == 4', '::ffff:9.1.2.3', true],
    ['reasons.exists(r, r.startsWith("tor"))', '9.1.2.3', true],
    ['size(reasons.filter(r, r.contains("tor"))) > 5', '9.1.2.3', false],
    ['risk_score + (signals.tor ? 20 : 0) >= 100', '9.1.2.3', true],
    ['risk_level in ["very_high", "critical"]', '9.1.2.3', true],
    ['signals.bogon && classification == "bogon"', '10.0.0.1', true],
    ['network.mobile && signals.mobile', '12.0.0.9', true],
  ])('%s of %s is %s', (text, address, expected) => {
    expect(holds(text, address)).toBe(expected)
  })

  it('sees the lists that match', () => {
    expect(holds('"office" in lists', '9.1.2.3')).toBe(false)
    expect(holds('"office" in lists', '9.1.2.3', ['home', 'office'])).toBe(true)
    expect(holds('lists.exists(l, l.startsWith("off"))', '9.1.2.3', ['office'])).toBe(true)
  })

  it('has every member of the table of members, in its type', () => {
    const samples = { bool: 'true', int: '7', double: '7.5', string: '"x"' } as const
    const test = (path: string, type: string): string => {
      if (type === 'list<string>') return `"x" in ${path}`
      if (closedWords.has(path)) return `${path} == "${closedWords.get(path)![0]}"`
      return type === 'double' ? `${path} > 7.5` : `${path} == ${samples[type as 'int']}`
    }
    const all = [
      ...Object.entries(plainMembers),
      ...Object.entries(objectMembers).flatMap(([object, members]) =>
        Object.entries(members).map(([name, type]) => [`${object}.${name}`, type] as const),
      ),
    ]
    expect(all.length).toBeGreaterThan(35)
    for (const [path, type] of all) {
      for (const address of ['9.1.2.3', '13.0.0.1', '10.0.0.1', '11.66.1.1']) {
        expect(typeof holds(test(path, type), address), path).toBe('boolean')
      }
    }
  })
})

describe('a condition that is refused', () => {
  it.each([
    ['', 1, /unexpected/],
    ['risk_score >= ', 15, /unexpected/],
    ['risk_score', 1, /must be true or false, but has the type int/],
    ['risk_scor >= 75', 1, /unknown member risk_scor; did you mean risk_score\?/],
    ['ip == "9.1.2.3"', 1, /unknown member ip/],
    ['table == "x"', 1, /unknown member table/],
    ['risk_score >= 75 && network.asm == 5', 21, /network has no member asm; did you mean asn\?/],
    ['network == null', 1, /network is an object; name one of its members: asn,/],
    ['network.asn.foo == 5', 1, /no member foo/],
    ['bot.provider == null', 17, /null is not allowed/],
    ['risk_score >= "75"', 1, /no such overload: int >= string/],
    ['risk_score == 75u', 15, /unsigned/],
    ['proxy.percent_days_seen == 50', 1, /no such overload: double == int/],
    ['network.asn in [1, "2"]', 20, /same type/],
    ['"office" in risk_score', 1, /no such overload/],
    ['signals.vpn && 1', 1, /bool/],
    ['classification == "vnp"', 19, /classification is never "vnp"; did you mean vpn\?/],
    ['bot.category == "ai"', 17, /is never "ai"; known: search_crawler, ai_tool$/],
    ['network.type == "residential"', 17, /network.type is never "residential"/],
    ['risk_level in ["high", "awful"]', 24, /risk_level is never "awful"/],
    ['"none" != proxy.confidence', 1, /proxy.confidence is never "none"/],
    ['risk_score / 0 == 1', 1, /`\/` is not allowed/],
    ['risk_score * 2 > 1', 1, /`\*` is not allowed/],
    ['risk_score > 10000000000001', 14, /too large/],
    ['reasons[0] == "a"', 1, /`\[\]` is not allowed: an element may be missing/],
    ['network["asn"] == 5', 1, /`\[\]` is not allowed/],
    ['classification.matches("(a+)+$")', 1, /regular expressions can be slow/],
    ['int(classification) == 4', 1, /the function int is not allowed/],
    ['dyn(risk_score) == "a"', 1, /the function dyn is not allowed/],
    ['has(network.asn)', 1, /every member is always present/],
    ['type(risk_score) == int', 1, /the function type is not allowed/],
    ['{"a": 1} == {"a": 1}', 1, /`map` is not allowed/],
    ['reasons.exists(a, lists.exists(b, a == b))', 19, /inside another loop/],
    ['cel.bind(x, risk_score, x > 3)', 1, /the function bind is not allowed/],
    ['google.protobuf == 1', 1, /unknown member/],
    ['__proto__ == 1', 1, /./],
    ['constructor == 1', 1, /unknown member constructor/],
    ['network.constructor == 1', 1, /network has no member constructor/],
  ])('%s: at column %s', (text, column, message) => {
    const fault = compileCondition(text)
    expect(fault).toMatchObject({
      kind: 'fault',
      message: expect.stringMatching(message),
      column,
    })
  })

  it.each([
    ['a long list', `risk_score in [${'1,'.repeat(1500)}1]`, /maxListElements/],
    ['deep', '('.repeat(60), /maxDepth/],
    ['long', `risk_score == 1${' '.repeat(4000)}`, /longer than 4000/],
  ])('is one that is %s', (_, text, message) => {
    expect(compileCondition(text)).toMatchObject({ message: expect.stringMatching(message) })
  })

  it('is told with the line of its text', () => {
    expect(compileCondition('risk_score >= 75 &&\n  network.asm == 5')).toMatchObject({
      kind: 'fault',
      line: 2,
      column: 3,
    })
  })
})

describe('any condition that is loaded', () => {
  const leaf = constantFrom(
    ...Object.keys(plainMembers),
    ...Object.entries(objectMembers).flatMap(([object, members]) =>
      Object.keys(members).map((name) => `${object}.${name}`),
    ),
    'x',
    '1',
    '-7',
    '9999999999999',
    '1.5',
    '"vpn"',
    '""',
    'true',
    '["a", "b"]',
    '[1, 2]',
    'null',
  )
  const { text } = letrec<{ text: string }>((tie) => ({
    text: oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      tuple(
        tie('text'),
        constantFrom('==', '!=', '<', '>=', 'in', '&&', '||', '+', '-', '*', '/', '%'),
        tie('text'),
      ).map(([a, op, b]) => `(${a} ${op} ${b})`),
      tie('text').map((a) => `!${a}`),
      tuple(tie('text'), tie('text'), tie('text')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      tie('text').map((a) => `size(${a})`),
      tuple(tie('text'), constantFrom('startsWith', 'contains', 'endsWith'), tie('text')).map(
        ([a, name, b]) => `${a}.${name}(${b})`,
      ),
      tuple(tie('text'), constantFrom('exists', 'all', 'exists_one', 'filter'), tie('text')).map(
        ([a, name, b]) => `${a}.${name}(x, ${b})`,
      ),
      tuple(tie('text'), tie('text')).map(([a, b]) => `${a}[${b}]`),
    ),
  }))

  it('is true or false of every answer, and never fails', () => {
    const all = ['9.1.2.3', '13.0.0.1', '10.0.0.1', '11.66.1.1', '2a01:4f8::3', '9.77.0.1'].map(
      (address) => factsOf(table.check(address)!, ['office', '']),
    )
    let loaded = 0
    assert(
      property(text, (text) => {
        const compiled = compileCondition(text)
        if (compiled.kind === 'fault') return
        loaded += 1
        for (const facts of all) expect(typeof compiled.holds(facts)).toBe('boolean')
      }),
      { numRuns: 12_000 },
    )
    expect(loaded).toBeGreaterThan(300)
  })
})
