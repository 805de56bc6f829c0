// The two commands of tests add up: what has a short form runs once more in full. What begins first
// is there.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { filesWithForms, serverFiles, unitFiles, worldFiles } from '../kinds.ts'
import { longestFirst } from '../sequence.ts'

const names = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `test/${name}`)

it('every file of tests is of one kind', () => {
  const all = [...unitFiles, ...serverFiles, ...worldFiles].toSorted()
  expect(all).toEqual(names.filter((name) => name.endsWith('.test.ts')).toSorted())
  expect(new Set(all).size).toBe(all.length)
})

it('only files that run in both forms ask for the form', () => {
  const asking = names.filter((name) =>
    /from '[./]+\/form\.ts'/.test(readFileSync(join(packageRoot, name), 'utf8')),
  )
  expect(asking.toSorted()).toEqual(filesWithForms.toSorted())
  expect(filesWithForms.length).toBeGreaterThan(10)
})

it('what begins first is there, and of the world', () => {
  expect(longestFirst.filter((file) => !worldFiles.includes(file))).toEqual([])
  expect(new Set(longestFirst).size).toBe(longestFirst.length)
})
