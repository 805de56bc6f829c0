// docs/layout.md answers "which file do I open for …?": the files that it names exist, and each has
// the symbol that the answer names.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const text = read('docs/layout.md')

const questions = text.split('\n## … ').slice(1)
const answers = [...text.matchAll(/^- `([^`]+)`, `(\w+)`: /gm)].map(
  ([, path = '', symbol = '']) => ({ path, symbol }),
)

/** Whether a text in TypeScript declares the symbol, exported or not. */
function declares(source: string, symbol: string): boolean {
  return new RegExp(
    `^(?:export )?(?:async )?(?:const|function|interface|type) ${symbol}\\b`,
    'm',
  ).test(source)
}

describe('docs/layout.md', () => {
  it('answers the six questions, each with a file and a symbol', () => {
    expect(questions.map((question) => question.split('?')[0])).toEqual([
      'a new feed format',
      'a new reason code',
      'a new CLI option',
      'a wrong rate limit',
      'a worker that hangs',
      'a header that is missing',
    ])
    for (const question of questions) expect(question).toMatch(/^- `[^`]+`, `\w+`: /m)
    expect(text.match(/^- /gm)).toHaveLength(answers.length)
  })

  it.each(answers)('finds $symbol in $path', ({ path, symbol }) => {
    expect(declares(read(path), symbol)).toBe(true)
  })

  it('names no path that does not exist', () => {
    const named = [...text.matchAll(/`((?:src|build|test|bench|data)\/[^`]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !path.includes('NAME'))
    expect(named.length).toBeGreaterThan(answers.length)
    expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
  })

  it('would miss a symbol that is gone', () => {
    expect(declares('export const other = 1\n', 'formats')).toBe(false)
    expect(declares('export const formatsOld = 1\n', 'formats')).toBe(false)
  })
})

describe('docs/README.md', () => {
  const index = read('docs/README.md')
  const linked = [...index.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) => path)

  it('links every document, and nothing that does not exist', () => {
    const all = [
      'calibration/README.md',
      'errors.md',
      'evaluation/REPORT.md',
      'gates.md',
      'hostile.md',
      'keys.md',
      'layout.md',
      'lives.md',
      'operate.md',
      'proof/REPORT.md',
      'scale.md',
      'targets.md',
    ]
    expect(linked.filter((path) => !path.startsWith('../')).toSorted()).toEqual(all)
    expect(linked.filter((path) => !existsSync(join(packageRoot, 'docs', path)))).toEqual([])
  })

  it('names documents that open with the question that they answer', () => {
    for (const path of linked.filter((one) => !one.startsWith('../'))) {
      const [title = '', opening = ''] = read(join('docs', path)).split('\n\n')
      expect([path, title]).toEqual([path, expect.stringMatching(/^# /)])
      expect([path, opening]).toEqual([path, expect.stringContaining('?')])
    }
  })
})
