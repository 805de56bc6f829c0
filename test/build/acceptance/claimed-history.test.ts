// A transaction of the history, after the death of a run that was writing acceptance's ledger.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  acceptanceFolder,
  readAcceptanceLedger,
  writeAcceptanceLedger,
} from '../../../build/acceptance/acceptance-ledger.ts'
import { beginHistoryTransaction } from '../../../build/acceptance/history-transaction.ts'

it('removes half a ledger that a killed run left, and keeps the whole one', async () => {
  const store = mkdtempSync(join(tmpdir(), 'iprisk-claim-'))
  const folder = acceptanceFolder(store)
  mkdirSync(folder)
  await writeAcceptanceLedger(store, new Map([['a', { sizes: [], moved: false, held: [] }]]))
  writeFileSync(join(folder, '.ledger.json.0b7e.tmp'), '{"version":1,"fee')
  const transaction = await beginHistoryTransaction(store)
  expect(readdirSync(folder)).toEqual(['ledger.json'])
  const { ledger, problem } = await readAcceptanceLedger(store)
  expect([[...ledger.keys()], problem]).toEqual([['a'], undefined])
  await transaction.release()
  rmSync(store, { recursive: true })
})
