// The proofs about the clients in their shortest form, as `npm run prove` runs them. They have the
// machine alone, for they hold a client to its time-out.

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

it.each(['client-faults', 'client-python-faults'])('%s holds', async (name) => {
  const proof = proofs.find((one) => one.name === name)
  const result = await proof?.run({ form: 'ci', folder, feeds: '', say: () => undefined })
  expect(result?.faults, JSON.stringify(result?.facts)).toEqual([])
  expect(Object.keys(result?.facts ?? {}).length).toBeGreaterThan(1)
})
