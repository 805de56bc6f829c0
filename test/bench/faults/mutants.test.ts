// The mutants of a source file are those of its tokens that decide something, and a file with its
// mutants behind switches runs as written until one of them is on.

import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { afterAll, expect, it } from 'vitest'
import { type Mutant, mutantsOf } from '../../../bench/faults/mutants/find-mutants.ts'
import { switchedSource } from '../../../bench/faults/mutants/switched-source.ts'
import { removeFolder } from '../../remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-mutants-'))
afterAll(() => removeFolder(folder))

function read(text: string): readonly Mutant[] {
  writeFileSync(join(folder, 'one.ts'), text)
  writeFileSync(join(folder, 'tsconfig.json'), '{"files": ["one.ts"]}')
  const api = new API({ cwd: folder })
  try {
    const config = join(folder, 'tsconfig.json')
    const { program } = api.updateSnapshot({ openProjects: [config] }).getProjects()[0]!
    return mutantsOf(program.getSourceFile(join(folder, 'one.ts'))!, 'one.ts')
  } finally {
    api.close()
  }
}

const source = `// A "text" that is none.
import { a } from 'not-this'
const most = 0x10
type Small = 1 | 2
export function clamp(value, isOpen) {
  if (!isOpen && value > most) return most + 1
  for (const one of [1n]) { if (value === 3) continue }
  return { kind: 'low_value', 'other-name': true }
}
`

it('finds the tokens that decide something, and no type, name or import', () => {
  expect(read(source).map(({ line, before, after }) => `${line} ${before} ${after}`)).toEqual([
    '3 0x10 17',
    '6 && ||',
    '6 ! ',
    '6 > >=',
    '6 return most + 1 {}',
    '6 + -',
    '6 1 2',
    '7 1n 2n',
    '7 === !==',
    '7 3 4',
    '7 continue {}',
    "8 'low_value' ''",
    '8 true false',
  ])
})

it('runs as written until a mutant is on, and then with that one alone', () => {
  const text = `function cut(text, most) {
    if (text.length <= most) return text
    return text.length > 2 * most && most !== 0 ? 'far_over' : text.slice(0, most - 1)
  }`
  const mutants = read(text).map((mutant, at) => ({ ...mutant, id: at + 1 }))
  const switchFile = join(folder, 'switch')
  const switched = switchedSource(text, mutants, switchFile)
  const mutated = ({ token, after }: Mutant): string =>
    text.slice(0, token.start) + after + text.slice(token.end)
  const answers = (code: string): string => {
    delete (globalThis as { mutantSwitch?: unknown }).mutantSwitch
    // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
    const cut = new Function(`${code}; return cut`)() as (text: string, most: number) => string
    const all = [0, 1, 2, 3, 4].flatMap((most) =>
      ['', 'a', 'abcd', 'abcde'].map((t) => cut(t, most)),
    )
    return all.join()
  }
  expect(mutants.length).toBeGreaterThan(8)
  for (const mutant of mutants) {
    writeFileSync(switchFile, String(mutant.id))
    expect(answers(switched), mutant.before).toBe(answers(mutated(mutant)))
  }
  writeFileSync(switchFile, '0')
  expect(answers(switched)).toBe(answers(text))
})

it('notes once who comes past a place, again where that could not be written', () => {
  const text = 'function isOne(count) { return count === 1 }'
  const switchFile = join(folder, 'recording')
  const seen = `${switchFile}.seen`
  const mutants = read(text).map((mutant, at) => ({ ...mutant, id: at + 1 }))
  const code = switchedSource(text, mutants, switchFile)
  writeFileSync(switchFile, 'record')
  // Nobody can write to a folder.
  mkdirSync(seen)
  delete (globalThis as { mutantSwitch?: unknown }).mutantSwitch
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
  const isOne = new Function(`${code}; return isOne`)() as (count: number) => boolean
  isOne(1)
  rmdirSync(seen)
  isOne(1)
  isOne(2)
  delete (globalThis as { mutantSwitch?: unknown }).mutantSwitch
  const ids = readFileSync(seen, 'utf8').trimEnd().split('\n')
  expect(ids.map((row) => row.split('\t')[0])).toEqual(['1', '2'])
})
