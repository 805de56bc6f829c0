// The ten lines of README.md compile as they stand, with the types of the packed client; so does what
// applications write into the options of its middlewares.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { writeDeclarations } from '../deploy/write-declarations.ts'
import { installClient } from './installed-client.ts'
import { readmeLogin } from './readme-code.ts'

// In the project, so that Express is found.
const folder = join(packageRoot, 'dist/readme-types')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  await writeDeclarations()
  rmSync(folder, { recursive: true, force: true })
  await installClient(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
})

/** What the compiler says of the program. */
function complaintsOf(program: string, cwd = folder, more = '--skipLibCheck --types node'): string {
  writeFileSync(join(cwd, 'login.ts'), program)
  const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
  const options = `--noEmit --strict --ignoreConfig --module nodenext ${more} login.ts`.split(' ')
  return spawnSync(process.execPath, [compiler, ...options], { cwd, encoding: 'utf8' }).stdout
}

it('compile as they stand', () => {
  expect(complaintsOf(readmeLogin())).toBe('')
})

const client = `import { createClient } from 'iprisk-client'
const client = createClient({ url: 'http://127.0.0.1:8080', key: 'irk_' })`

it.each([
  [
    'express',
    `import express from 'express'
    express().post('/a/:id', iprisk({ client, challenge: (request, response) => {
      response.redirect(request.originalUrl)
    } }), (request, response) => response.send(request.params.id))`,
  ],
  [
    'fastify',
    `import fastify from 'fastify'
    const preHandler = iprisk({ client, block: (request, reply) => reply.redirect(request.url) })
    fastify().post('/a', { preHandler }, () => 'welcome')
    fastify({ http2: true }).post('/a', { preHandler }, () => 'welcome')`,
  ],
  [
    'hono',
    `import { Hono } from 'hono'
    const challenge = iprisk({ client, actions: { wait: (context) => context.json({}, 401) } })
    new Hono<{ Variables: { user: string } }>()
      .post('/a', challenge, (context) => context.text(context.var.user))
      .post('/b', iprisk({ client, block: (context) => context.redirect('/') }))`,
  ],
  [
    'better-auth',
    `import { betterAuth } from 'better-auth'
    export const auth = betterAuth({ plugins: [iprisk({ client, challenge: ({ headers, body }) => {
      if (headers?.get('x-proof') !== 'given') return { code: 'PROVE', email: body.email }
    }, outcome: ({ path, context }) => (context.returned instanceof Error ? 'abusive' : undefined) })] })`,
  ],
  [
    'koa',
    `import Koa from 'koa'
    new Koa().use(iprisk({ client, challenge: (context) => context.redirect('/a') }))`,
  ],
])('a function in the words of %s compiles without types of its own', (name, program) => {
  const imports = `${client}\nimport { iprisk } from 'iprisk-client/${name}'\n`
  expect(complaintsOf(imports + program)).toBe('')
})

it('so do a handler and a challenge of node:http', () => {
  const program = `import { createServer } from 'node:http'
  import { guarded } from 'iprisk-client/http'
  createServer(guarded(
    { client, challenge: (request, response) => response.writeHead(401).end(request.url) },
    (request, response) => response.writeHead(200).end(request.url + request.iprisk!.action),
  ))`
  expect(complaintsOf(`${client}\n${program}`)).toBe('')
})

it('no types of a framework are asked for by the others', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'iprisk-types-'))
  cpSync(join(folder, 'node_modules'), join(elsewhere, 'node_modules'), { recursive: true })
  writeFileSync(join(elsewhere, 'package.json'), '{"type":"module"}')
  const complaints = complaintsOf(`import 'iprisk-client/http'`, elsewhere, '--lib es2022,dom')
  rmSync(elsewhere, { recursive: true })
  expect(complaints).toBe('')
})
