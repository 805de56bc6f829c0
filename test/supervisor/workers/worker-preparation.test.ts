// What a worker makes ready before it has a table; worker.test.ts has the rest of its start.

import { expect, it } from 'vitest'
import type { Log } from '../../../src/base/log.ts'
import { newRequestCounters } from '../../../src/http/exchange/request-counters.ts'
import { createWorkerPreparation } from '../../../src/supervisor/workers/worker-preparation.ts'

it('makes room for the table while that is being verified', async () => {
  const tableBytes = 2 ** 27
  const parts = {
    createLog: () => ({}) as Log,
    openAccount: () => Promise.reject(new Error('no account here')),
  }
  const { external } = process.memoryUsage()
  const prepared = createWorkerPreparation(
    parts,
    newRequestCounters(),
  )({
    host: '127.0.0.1',
    port: 0,
    stateFolder: '',
    tableBytes,
    store: { policy: 'refuse', timeoutMs: 300, replicas: 0 },
    plans: {},
    logLevel: 'info',
    logAddresses: false,
    pool: { threads: 1, queue: 1 },
    connections: { all: 1000, perAddress: 0 },
  })
  expect(process.memoryUsage().external - external).toBeGreaterThan(tableBytes)
  await expect(prepared).rejects.toThrow('no account here')
})
