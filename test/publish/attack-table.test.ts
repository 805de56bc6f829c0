// The table of known attacks in docs/distribute.md names tests that exist.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')

const [, section = ''] = read('docs/distribute.md').split('## Known attacks on updates')
const rows = section
  .slice(0, section.indexOf('\n`npm run'))
  .split('\n')
  .filter((line) => /^\| (?!attack)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, attack = '', , , shown = '']) => ({ attack, shown }))

it('has every attack that The Update Framework lists', () => {
  const named = rows.map(({ attack }) => attack).join('\n')
  for (const attack of [
    'arbitrary',
    'rollback',
    'fast-forward',
    'indefinite freeze',
    'endless data',
    'slow retrieval',
    'mix-and-match',
    'wrong software',
    'extraneous dependencies',
    'key compromise',
    'malicious mirror',
  ]) {
    expect(named).toContain(attack)
  }
})

it.each(rows.filter(({ attack }) => attack !== 'extraneous dependencies'))(
  '$attack: its tests are there',
  ({ shown }) => {
    expect(shown).not.toBe('')
    for (const part of shown.split(';')) {
      const [file = '', ...claims] = [...part.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
      expect(claims).not.toEqual([])
      const text = read(`test/${file}`)
      for (const claim of claims) expect(text).toContain(claim)
    }
  },
)
