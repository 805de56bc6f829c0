// The proofs about a running server in their shortest form, as `npm run prove` runs them: swaps,
// also on a disk that fails, deaths, five times the connections of the cap, storms. In this form no
// clock judges them, so they run beside other tests; mutated requests and tables are in
// test/bench/prove.world.test.ts. Slow clients and the soak say nothing in so short a time and are
// proofs alone.

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

it.each(['swaps', 'swap-faults', 'lives', 'overload', 'attack-storms'])(
  '%s holds',
  async (name) => {
    const proof = proofs.find((one) => one.name === name)
    const result = await proof?.run({ form: 'ci', folder, feeds: '', say: () => undefined })
    expect(result?.faults, JSON.stringify(result?.facts)).toEqual([])
    expect(Object.keys(result?.facts ?? {}).length).toBeGreaterThan(1)
  },
)
