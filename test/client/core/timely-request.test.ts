// What is in time where the application's own loop stands still: a server in a thread of its own
// answers meanwhile.

import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient as createNodeClient } from '../../../src/client/node-client.ts'
import { answerFor } from '../stand-in.ts'

const answerMs = 40

const serving = `
  const { parentPort, workerData } = require('node:worker_threads')
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.end(workerData), ${answerMs}))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

it.each([
  ['node:http', createNodeClient],
  ['fetch', createFetchClient],
])('over %s the answer that came while the loop stood still is in time', async (_name, create) => {
  const workerData = JSON.stringify(answerFor('203.0.113.7'))
  const worker = new Worker(serving, { eval: true, workerData })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const url = `http://127.0.0.1:${port}`
  const client = create({ url, key: 'irk_k', cacheMs: 0, timeoutMs: 100, circuitFailures: 1 })
  // Loads what the runtime loads for its first request.
  const first = create({ url, key: 'irk_k', timeoutMs: 5000 })
  await first.check('203.0.113.1')
  first.close()
  const results = [1, 2, 3].map((last) => client.check(`203.0.113.${last}`))
  const standStill = (): void => {
    const until = performance.now() + 250
    while (performance.now() < until);
  }
  // After an immediate the loop goes on with its timers.
  setTimeout(() => setImmediate(standStill), answerMs / 2)
  expect((await Promise.all(results)).map(({ ok }) => ok)).toEqual([true, true, true])
  expect(client.counts()).toMatchObject({ checked: 3, timeout: 0, opened: 0 })
  client.close()
  await worker.terminate()
})
