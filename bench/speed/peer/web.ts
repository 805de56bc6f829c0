// The Node peers of the benchmark `http`, a program of its own: node:http or fastify with npm
// maxmind, as many processes as `--workers`, on one port of 127.0.0.1. A POST with {"ip":"…"} is
// answered with the record of the MMDB file. What they do not do: no key, no limits, no metrics, no
// guard, no verdict; and their answers are a fifth as long. Loopback only.

import cluster from 'node:cluster'
import { createServer } from 'node:http'
import process from 'node:process'
import { fastify } from 'fastify'
import * as maxmind from 'maxmind'
import type { CityResponse } from 'maxmind'
import { readFlags } from '../../harness/option.ts'
import { mmdbPaths } from './mmdb.ts'

const host = '127.0.0.1'

type Get = (text: string) => unknown

async function openReader(): Promise<Get> {
  const reader = await maxmind.open<CityResponse>(mmdbPaths()[4])
  return (text) => reader.get(text)
}

function serveNode(get: Get, port: number): void {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { ip } = JSON.parse(body) as { readonly ip: string }
      const text = JSON.stringify(get(ip))
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      response.end(text)
    })
  })
  server.keepAliveTimeout = 600_000
  server.listen(port, host)
}

/** With a schema of the answer, which is how fastify is fast. */
const answerSchema = {
  type: 'object',
  properties: {
    ...Object.fromEntries(
      ['city', 'country_code', 'postcode', 'state1', 'state2', 'timezone'].map((name) => [
        name,
        { type: 'string' },
      ]),
    ),
    latitude: { type: 'number' },
    longitude: { type: 'number' },
  },
}

async function serveFastify(get: Get, port: number): Promise<void> {
  const app = fastify({ logger: false, keepAliveTimeout: 600_000 })
  app.post('*', { schema: { response: { 200: answerSchema } } }, (request, reply) => {
    void reply.send(get((request.body as { readonly ip: string }).ip))
  })
  await app.listen({ host, port })
}

function runPrimary(workers: number): void {
  let listening = 0
  cluster.on('listening', (_, { port }) => {
    listening += 1
    if (listening === workers) process.stdout.write(`web listens on http://${host}:${port}\n`)
  })
  cluster.on('exit', () => process.exit(1))
  for (let index = 0; index < workers; index++) cluster.fork()
  process.on('SIGTERM', () => process.exit(0))
}

const { kind, workers } = readFlags({
  numbers: { workers: { max: 1024, otherwise: 1 } },
  texts: ['kind'],
})
if (cluster.isPrimary) {
  runPrimary(workers)
} else {
  const get = await openReader()
  // Port 0 is one free port for all workers of a cluster.
  await (kind === 'fastify' ? serveFastify(get, 0) : serveNode(get, 0))
}
