// The same small application in each framework, as the text of a program that stands in a folder of
// its own beside the packed client: /login behind the middleware answers with what was known of the
// request. Each says on its first line of output at which port it listens.

export interface FreshApplication {
  /** As npm installs them, beside the client. */
  readonly packages: readonly string[]
  readonly program: string
  /** What runs it, below the folder's node_modules; Node itself where absent. */
  readonly runtime?: readonly [path: string, ...flags: string[]]
}

const client = `
import { createClient } from 'iprisk-client'
const { IPRISK_URL: url, IPRISK_KEY: key } = process.env
const client = createClient({
  url, key, timeoutMs: 10_000, circuitFailures: 1000, cacheMs: 0,
  fallback: { unavailable: 'block' },
})
// The proxy of the test, and one that the test plays.
const options = { client, trust: 2 }
const said = ({ action, address, result }) =>
  JSON.stringify({ action, address, word: result.ok ? result.answer.classification : result.reason })
`
const listening = `server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

const express = `
import { createServer } from 'node:http'
import express from 'express'
import { iprisk } from 'iprisk-client/express'
${client}
const app = express()
app.post('/login', iprisk(options), (request, response) => response.send(said(request.iprisk)))
const server = createServer(app)
${listening}
`

/** Without the peer: each runtime has its own way to say it. */
const hono = `
import { Hono } from 'hono'
import { iprisk } from 'iprisk-client/hono'
${client}
const app = new Hono()
app.post('/login', iprisk({ ...options, peer: (context) => context.env.peer }), (context) =>
  context.text(said(context.get('iprisk'))))
`

export const applications: Readonly<Record<string, FreshApplication>> = {
  'Express 5': { packages: ['express@5.3.0'], program: express },
  'Express 4': { packages: ['express@4.22.3'], program: express },
  'node:http': {
    packages: [],
    program: `
import { createServer } from 'node:http'
import { guarded } from 'iprisk-client/http'
${client}
const server = createServer(
  guarded(options, (request, response) => response.end(said(request.iprisk))),
)
${listening}
`,
  },
  'Fastify 5': {
    packages: ['fastify@5.12.8'],
    program: `
import fastify from 'fastify'
import { iprisk, ipriskOf } from 'iprisk-client/fastify'
${client}
const app = fastify()
app.post('/login', { preHandler: iprisk(options) }, (request) => said(ipriskOf(request)))
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(app.server.address().port)
`,
  },
  'Hono 4': {
    packages: ['hono@4.13.19', '@hono/node-server@2.1.8'],
    program: `
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { iprisk } from 'iprisk-client/hono'
${client}
const app = new Hono()
app.post('/login', iprisk(options), (context) => context.text(said(context.get('iprisk'))))
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(port))
`,
  },
  'Hono 4 in Deno': {
    packages: ['hono@4.13.19', '@deno/linux-x64-glibc@2.9.6'],
    runtime: ['@deno/linux-x64-glibc/deno', 'run', '--quiet', '-A'],
    program: `
import process from 'node:process'
${hono}
const onListen = ({ port }) => console.log(port)
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, (request, { remoteAddr }) =>
  app.fetch(request, { peer: remoteAddr.hostname }))
`,
  },
  'Hono 4 in Bun': {
    packages: ['hono@4.13.19', '@oven/bun-linux-x64-baseline@1.4.5'],
    runtime: ['@oven/bun-linux-x64-baseline/bin/bun'],
    program: `
${hono}
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request, server) =>
  app.fetch(request, { peer: server.requestIP(request).address }) })
console.log(server.port)
`,
  },
  Koa: {
    packages: ['koa@3.3.0'],
    program: `
import { createServer } from 'node:http'
import Koa from 'koa'
import { iprisk } from 'iprisk-client/koa'
${client}
const app = new Koa()
app.use(iprisk(options))
app.use((context) => { context.body = said(context.state.iprisk) })
const server = createServer(app.callback())
${listening}
`,
  },
}
