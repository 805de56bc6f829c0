// The proofs about a running server in their shortest form, as `npm run prove` runs them: swaps,
// also on a disk that fails, deaths, 200,000 mutated requests, five times the connections of the
// cap, 2,000 damages to a table, 100 forged ones. Slow clients and the soak say nothing in so short
// a time and are proofs alone.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { proofs } from '../../../bench/faults/all.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-proof-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const names = [
  'swaps',
  'swap-faults',
  'lives',
  'mutate',
  'overload',
  'attack-storms',
  'damage',
  'attack-tables',
] as const

it.each(names)('%s holds', async (name) => {
  const proof = proofs.find((one) => one.name === name)
  const result = await proof?.run({ form: 'ci', folder, feeds: '', say: () => undefined })
  expect(result?.faults, JSON.stringify(result?.facts)).toEqual([])
  expect(result?.facts.length).toBeGreaterThan(1)
})
