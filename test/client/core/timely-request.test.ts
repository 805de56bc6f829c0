// What is in time where the application's own loop stands still: a server in a thread of its own
// answers meanwhile.

import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient as createNodeClient } from '../../../src/client/node-client.ts'
import { answerFor } from '../stand-in.ts'

const timeoutMs = 500

/** Says its port, then that it has the three requests after the first, which it answers a little later. */
const serving = `
  const { parentPort, workerData } = require('node:worker_threads')
  let asked = 0
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => {
      if ((asked += 1) === 4) parentPort.postMessage('asked')
      setTimeout(() => response.end(workerData), 20)
    })
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
  const client = create({
    url,
    key: 'irk_k',
    cacheMs: 0,
    timeoutMs,
    circuitFailures: 1,
    coalesce: false,
  })
  // After an immediate the loop goes on with its timers.
  worker.once('message', () => setImmediate(standStill))
  const results = [1, 2, 3].map(() => client.check('203.0.113.7'))
  expect((await Promise.all(results)).map(({ ok }) => ok)).toEqual([true, true, true])
  expect(client.counts()).toMatchObject({ checked: 3, timeout: 0, opened: 0 })
  client.close()
  await worker.terminate()
})

function standStill(): void {
  const until = performance.now() + timeoutMs + 200
  while (performance.now() < until);
}
