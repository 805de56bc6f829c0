// What a worker makes ready before it has a table; worker.test.ts has the rest of its start.

import { expect, it } from 'vitest'
import type { Log } from '../../src/base/log.ts'
import { newRequestCounters } from '../../src/observe/request-counters.ts'
import { createWorkerPreparation } from '../../src/worker/worker-preparation.ts'
import { settingsOfAll } from './settings-of-all.ts'

it('makes room for the table while that is being verified', async () => {
  const tableBytes = 2 ** 27
  const parts = {
    createLog: () => ({}) as Log,
    openAccount: () => Promise.reject(new Error('no account here')),
  }
  const { external } = process.memoryUsage()
  const prepare = createWorkerPreparation(parts, newRequestCounters())
  const prepared = prepare({ ...settingsOfAll, port: 0, tableBytes })
  expect(process.memoryUsage().external - external).toBeGreaterThan(tableBytes)
  await expect(prepared).rejects.toThrow('no account here')
})
