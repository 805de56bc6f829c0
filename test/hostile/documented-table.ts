// Reads a table of docs/hostile.md, so that a test can hold what it measured against what is
// written.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'

/** The rows below the heading, each by its first cell: the other cells. */
export function documentedTable(
  heading: string,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const text = readFileSync(join(packageRoot, 'docs/hostile.md'), 'utf8')
  const [, below = ''] = text.split(`\n### ${heading}\n`)
  const [first = '', , ...lines] = below
    .slice(below.indexOf('\n|') + 1)
    .split(/\n(?!\|)/, 1)
    .join('')
    .split('\n')
  const cells = (line: string): string[] =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1)
  const [, ...fronts] = cells(first)
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...values] = cells(line)
      return [name, Object.fromEntries(fronts.map((front, at) => [front, values[at] ?? '']))]
    }),
  )
}
