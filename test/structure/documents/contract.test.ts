// What comments refer to can be read in the repository: parts of the contract by number in
// docs/contract.md, rules of the score by number in MODEL.md, and documents by name.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { elsewhere, numbers, rules } from '../../score/rules.ts'
import { sourceFiles } from '../source.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')

/** The comments of a file, each as one line. */
function commentsOf(text: string): string {
  return text.replaceAll(/\n\s*(?:\/\/|\*)\s?/g, ' ')
}

/** The numbers behind each occurrence of a word: "contract 3.12 to 3.14", "rules 3 and 5". */
function numbersBehind(text: string, word: RegExp): readonly string[] {
  const list = new RegExp(
    `${word.source} (\\d+(?:\\.\\d+)?(?:(?:, | and | to )\\d+(?:\\.\\d+)?)*)`,
    'gi',
  )
  return [...commentsOf(text).matchAll(list)].flatMap(([, found = '']) =>
    found.split(/, | and | to /),
  )
}

const source = sourceFiles(['src', 'build', 'deploy/reference'])
const all = [...source, ...sourceFiles(['test', 'bench'])]
const contract = /\bcontract/
const rule = /MODEL\.md(?:,|'s) rules?/

interface Row {
  readonly number: string
  readonly text: string
  readonly last: string
}

/** The rows of a table whose first cell is a number. */
function rowsOf(text: string): readonly Row[] {
  return [...text.matchAll(/^\| (\d+(?:\.\d+)?) \| (.+?) \| (.+) \|$/gm)].map(
    ([, number = '', said = '', last = '']) => ({ number, text: said, last }),
  )
}

describe('docs/contract.md', () => {
  const rows = rowsOf(read('docs/contract.md'))
  const known = new Set(rows.map(({ number }) => number))

  it('has a row for every number that a comment names', () => {
    const named = source.flatMap(({ path, text }) =>
      numbersBehind(text, contract).map((number) => ({ path, number })),
    )
    expect(named.length).toBeGreaterThan(40)
    expect(named.filter(({ number }) => !known.has(number))).toEqual([])
    const tests = all.flatMap(({ text }) => numbersBehind(text, contract))
    expect(tests.filter((number) => !known.has(number))).toEqual([])
  })

  it('has every number once, in order', () => {
    const part = (first: number, count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `${first}.${at + 1}`)
    const built = [
      '1',
      '2',
      ...part(3, 17),
      '4',
      ...part(5, 7),
      '6.1',
      '6.2',
      '6.3',
      '6.4',
      '6.5',
      '6.6',
      '6.7',
      '6.8',
      '6.9',
      '6.10',
      '6.11',
      '6.12',
    ]
    expect(rows.map(({ number }) => number)).toEqual(built)
  })

  it.each(rows)(
    'names for $number a test that there is, or says that it is not built',
    ({ last }) => {
      const tests = [...last.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
      expect(tests.length > 0 || last === 'not built yet').toBe(true)
      expect(tests.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
    },
  )

  it('names the properties of a verdict where there are such', () => {
    const held = rows.filter(({ last }) => last.includes('test/score/rules.ts'))
    const begin = new Set(Object.keys(rules).map((name) => name.split(' ')[0]))
    expect(held.length).toBeGreaterThan(4)
    expect(held.filter(({ number }) => !begin.has(number))).toEqual([])
  })
})

describe('MODEL.md', () => {
  const known = rowsOf(read('src/score/MODEL.md').split('## 7.')[1] ?? '').map(
    ({ number }) => number,
  )

  it('has a row for every rule that a comment names, and for every rule', () => {
    const named = all.flatMap(({ text }) => numbersBehind(text, rule))
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((number) => !known.includes(number))).toEqual([])
    expect(known).toEqual(numbers.filter((number) => !number.includes('.')))
    expect(Object.keys(elsewhere).filter((number) => known.includes(number))).toEqual([])
  })
})

it('comments name no document that is not in the repository', () => {
  const documents = execFileSync('git', ['-C', packageRoot, 'ls-files', '*.md'], {
    encoding: 'utf8',
  })
  const known = new Set(documents.split('\n').map((path) => basename(path)))
  const named = source.flatMap(({ path, text }) =>
    [...text.matchAll(/[\w-]+\.md\b/g)].map(([name]) => ({ path, name })),
  )
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter(({ name }) => !known.has(name))).toEqual([])
})

it('numbers are found in a comment, over lines, in lists and ranges', () => {
  const text = '// One (contract 3.12\n// to 3.14), and\n * contract 2 and 3.4. Contract 4: x'
  expect(numbersBehind(text, contract)).toEqual(['3.12', '3.14', '2', '3.4', '4'])
})
