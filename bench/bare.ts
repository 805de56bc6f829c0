// The ceiling of bench:http, a program of its own: bare uWebSockets.js in a cluster like the real
// server's, that answers everything with 200 and the same `--bytes` of JSON. It reads no header and
// no body and adds no header: what any server on uWebSockets.js cannot pass. Loopback only.

import cluster from 'node:cluster'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { loadUws } from '../src/server/uws.ts'
import { probePort } from '../src/server/probe.ts'
import { wholeOption } from './option.ts'

const host = '127.0.0.1'
const emptyAnswer = JSON.stringify({ constant: '' })

/** JSON of exactly `bytes`, at the least an empty member. */
function constantAnswer(bytes: number): string {
  return JSON.stringify({ constant: 'x'.repeat(Math.max(0, bytes - emptyAnswer.length)) })
}

function readOptions(): {
  readonly bytes: number
  readonly workers: number
  readonly port: number
} {
  const { values } = parseArgs({
    options: {
      bytes: { type: 'string' },
      workers: { type: 'string' },
      port: { type: 'string' },
    },
  })
  return {
    bytes: wholeOption('bytes', values.bytes, { min: 0, max: 1 << 20, otherwise: 700 }),
    workers: wholeOption('workers', values.workers, { min: 1, max: 1024, otherwise: 1 }),
    port: wholeOption('port', values.port, { min: 0, max: 65_535, otherwise: 0 }),
  }
}

async function runPrimary(): Promise<void> {
  const { bytes, workers, port: wanted } = readOptions()
  const port = await probePort({ host, port: wanted })
  cluster.setupPrimary({ args: ['--bytes', String(bytes), '--port', String(port)] })
  // A worker that is gone would make the ceiling lower than it is: end, and be noticed.
  cluster.on('exit', () => process.exit(1))
  let listening = 0
  for (let index = 0; index < workers; index++) {
    cluster.fork().once('message', () => {
      listening += 1
      if (listening === workers) process.stdout.write(`bare listens on http://${host}:${port}\n`)
    })
  }
  process.on('SIGTERM', () => process.exit(0))
}

async function runWorker(): Promise<void> {
  const { bytes, port } = readOptions()
  const uws = await loadUws()
  const body = constantAnswer(bytes)
  uws
    .App()
    .any('/*', (res) => {
      res.writeHeader('content-type', 'application/json')
      res.end(body)
    })
    .listen(host, port, (socket) => {
      if (socket === false) throw new Error(`The port ${port} of ${host} cannot be listened on.`)
      process.send?.('listening')
    })
}

await (cluster.isPrimary ? runPrimary() : runWorker())
