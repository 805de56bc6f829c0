// A claim of the history, after the death of a run that was about to write what the gate remembers.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { gateFolder, readLedger, writeLedger } from '../../../build/gate/gate-ledger.ts'
import { claimHistory } from '../../../build/gate/history-transaction.ts'

it('removes half a ledger that a killed run left, and keeps the whole one', async () => {
  const store = mkdtempSync(join(tmpdir(), 'iprisk-claim-'))
  const folder = gateFolder(store)
  mkdirSync(folder)
  await writeLedger(store, new Map([['a', { levels: [], moved: false, held: [] }]]))
  writeFileSync(join(folder, '.ledger.json.0b7e.tmp'), '{"version":1,"fee')
  const claim = await claimHistory(store)
  expect(readdirSync(folder)).toEqual(['ledger.json'])
  const { ledger, problem } = await readLedger(store)
  expect([[...ledger.keys()], problem]).toEqual([['a'], undefined])
  await claim.release()
  rmSync(store, { recursive: true })
})
