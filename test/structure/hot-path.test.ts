// The test of the test: what hot-path.ts finds in small files that are written for it.

import { describe, expect, it } from 'vitest'
import { hotFunctions, hotPathFaults } from './hot-path.ts'

const file = (header: string, ...code: readonly string[]): string =>
  [`// ${header}`, '//', '// What the file is.', '', ...code].join('\n')

const quick = ['export function quick(a: number): number {', '  return a + 1', '}']
const slow = [
  'function slow(',
  '  a: { readonly b: () => void },',
  '): { readonly c: number } {',
  "  if (a === undefined) throw new Error('none')",
  '  return { c: [1].map((d) => d)[0]! }',
  '}',
]

describe('the hot functions of a file', () => {
  const namesOf = (text: string): readonly string[] => hotFunctions(text).map(({ name }) => name)

  it('are all of them where the header names none', () => {
    expect(namesOf(file('Hot path: no throw.', ...quick, ...slow))).toEqual(['quick', 'slow'])
  })

  it('are those that its first sentence names', () => {
    const header = 'Hot path: `quick` while all is well. No closure, unlike `slow`.'
    expect(namesOf(file(header, ...quick, ...slow))).toEqual(['quick'])
  })

  it('are not those behind "but"', () => {
    expect(namesOf(file('Hot path: no closure but in `slow`.', ...quick, ...slow))).toEqual([
      'quick',
    ])
    const twoLines = `// Hot path: all but \`quick\` and\n// \`slow\`. No throw.\n//\n`
    expect(namesOf([twoLines, ...quick, ...slow].join('\n'))).toEqual([])
  })

  it('are none where the file has no mark', () => {
    expect(hotFunctions(file('The path `quick`.', ...quick))).toEqual([])
  })

  it('may be functions in variables and in objects, but no types', () => {
    const text = file(
      'Hot path: `one`, `two` and `three`.',
      'interface Some {',
      '  readonly two: (a: number) => number',
      '}',
      'const one = (a: number): number => a + 1',
      'const after = () => 2',
      'export const some = (): Some => ({',
      '  two: (a) => {',
      '    return a + 2',
      '  },',
      '  three: (a) => (a ? [a, 1] : a * 2),',
      '})',
    )
    expect(hotFunctions(text).map(({ body }) => body)).toEqual([
      'a + 1',
      '{\n    return a + 2\n  }',
      '(a ? [a, 1] : a * 2)',
    ])
  })

  it('are functions before they are members of an object that stands above', () => {
    const text = file(
      'Hot path: `run`. No closure.',
      'const made = { run: () => run(1) }',
      'function run(a: number): number {',
      '  return later(() => a)',
      '}',
    )
    expect(hotPathFaults(text)).toEqual(['run: closure'])
  })
})

describe('the rules', () => {
  const faultsOf = (code: string, rules = 'No closure or clock.'): readonly string[] =>
    hotPathFaults(file(`Hot path: \`f\`. ${rules}`, 'function f(a: number): void {', code, '}'))

  it.each([
    ["  if (a < 0) throw new RangeError('less')", ['f: throw']],
    ['  return BigInt(a)', ['f: BigInt']],
    ['  return a + 10n', ['f: BigInt']],
    ['  return 1_000n', ['f: BigInt']],
    ["  return new RegExp('x')", ['f: regular expression']],
    ['  return /^[/\'"`]$/.test(a)', ['f: regular expression']],
    ['  return list.map((b) => b)', ['f: closure']],
    ['  return function () { return a }', ['f: closure']],
    ['  return performance.now() - a', ['f: clock']],
    ['  return a / 2 / 3', []],
    ["  return '=> throw 1n /x/'", []],
    ['  return `throw ${a} {`', []],
    ['  // throw /x/\n  return a /* => */', []],
    ["  const { b } = a\n  return b['x']", []],
  ])('%s', (code, faults) => {
    expect(faultsOf(code)).toEqual(faults)
  })

  it('of closures and clocks are the header to make', () => {
    const code = '  return list.map((b) => performance.now())'
    expect(faultsOf(code, 'No allocation.')).toEqual([])
    expect(faultsOf(code)).toEqual(['f: closure', 'f: clock'])
  })

  it('hold in every function that is hot, and in no other one', () => {
    const text = file('Hot path: no closure.', ...quick, ...slow)
    expect(hotPathFaults(text)).toEqual(['slow: throw', 'slow: closure'])
    expect(hotPathFaults(file('Hot path: `quick`. No closure.', ...quick, ...slow))).toEqual([])
  })

  it('want names that the file has', () => {
    expect(hotPathFaults(file('Hot path: `gone`.', ...quick))).toEqual([
      'gone: is no function of this file',
    ])
    expect(hotPathFaults(file('Hot path: no throw but in `gone`.', ...quick))).toEqual([
      'gone: is no function of this file',
    ])
  })
})
