// A release but for its publishing: the packages are packed, within their bounds, and work where
// they are installed; the client's types hold under strict by two TypeScripts.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { newFolder } from '../build/fetch/site.ts'
import { copyReadings } from '../world/world-tables.ts'
import { writeDeclarations } from './write-declarations.ts'

const release = join(packageRoot, 'dist/release')

let ended: readonly unknown[] = []
beforeAll(async () => {
  await writeDeclarations()
  const data = newFolder()
  copyReadings(data)
  const readings = join(data, 'cache')
  const flags = existsSync(readings) ? ['--readings', readings] : []
  const { status, stderr } = spawnSync(process.execPath, ['deploy/release-dry.mjs', ...flags], {
    cwd: packageRoot,
    encoding: 'utf8',
  })
  ended = [status, stderr]
})

it('leaves the packages and their bills of materials', () => {
  expect(ended).toEqual([0, ''])
  expect(readdirSync(release).map((name) => name.replace(/\d+\.\d+\.\d+/, 'N'))).toEqual([
    'iprisk-N-py3-none-any.whl',
    'iprisk-N.tgz',
    'iprisk-client-N.tgz',
    'iprisk-client.cdx.json',
    'iprisk-compiler-N.tgz',
    'iprisk-compiler.cdx.json',
    'iprisk-python.cdx.json',
    'iprisk.cdx.json',
  ])
})

it('holds them to the bounds that the document names', () => {
  const script = readFileSync(join(packageRoot, 'deploy/release-dry.mjs'), 'utf8')
  const [, server, client] = /packedMax = \{ iprisk: (\S+), .*'iprisk-client': (\S+) \}/.exec(
    script,
  )!
  const [, wheel] = /wheelMax = (\S+)/.exec(script)!
  const bounds = [client, wheel, server].map((bytes) => `${bytes?.replaceAll('_', ',')} bytes`)
  expect(readFileSync(join(packageRoot, 'docs/releasing.md'), 'utf8')).toContain(
    `| packed | ${bounds.join(' | ')} |`,
  )
})

it('packs a page for the client whose links lead to no file that is not packed', () => {
  const page = readFileSync(join(packageRoot, 'dist/packages/iprisk-client/README.md'), 'utf8')
  expect(page).toContain('The worked example')
  expect(page.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull()
})

/** An application that uses every entry point, strictly typed. */
const application = `
import express from 'express'
import { betterAuth } from 'better-auth'
import Koa from 'koa'
import { Hono } from 'hono'
import fastify from 'fastify'
import { createServer } from 'node:http'
import { createClient, type CheckResult, type FailureReason } from 'iprisk-client'
import { clientAddress } from 'iprisk-client/address'
import { iprisk } from 'iprisk-client/express'
import { guarded } from 'iprisk-client/http'
import { iprisk as fastifyHook } from 'iprisk-client/fastify'
import { iprisk as hono } from 'iprisk-client/hono'
import { iprisk as koa } from 'iprisk-client/koa'
import { iprisk as plugin } from 'iprisk-client/better-auth'
import { guarded as route, ipriskProxy } from 'iprisk-client/next'
import { createFakeClient } from 'iprisk-client/testing'

const client = createClient({ url: 'http://127.0.0.1:8080', key: 'irk_x' })
const options = { client, policy: 'login', trust: ['private', '192.0.2.0/24'] } as const

const app = express()
app.post('/login', iprisk({ ...options, challenge: (_request, response) => response.end('') }))
app.post('/login', iprisk(options), (request, response) => {
  response.send(request.iprisk?.action)
})
fastify().post('/login', { preHandler: fastifyHook(options) }, () => 'in')
new Hono().post('/login', hono(options), (context) => context.text(context.get('iprisk').action))
new Koa().use(koa(options))
export const auth = betterAuth({ plugins: [plugin(options)] })
export const reported: Promise<boolean> = iprisk.report({}, 'abusive')
createServer(guarded(options, (_request, response) => response.end('in')))
export const POST = route(options, (request: Request) => new Response(request.url))
export const proxy = ipriskProxy(options)

export async function login(request: express.Request): Promise<string> {
  const result: CheckResult = await client.check(clientAddress(request) ?? '')
  if (!result.ok) {
    const reason: FailureReason = result.reason
    return reason + result.fallback
  }
  // @ts-expect-error it is no member
  void result.answer.risk
  return result.answer.classification + (result.decision?.action ?? '')
}
void createFakeClient({ '203.0.113.7': { action: 'block' }, '*': 'timeout' }).check('203.0.113.7')
`

const options = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ['node'],
  // The frameworks' own declarations are not what is tried.
  skipLibCheck: true,
}

describe('the types of the packed client', () => {
  it.each([
    ['7', 'typescript'],
    ['5.9', 'typescript59'],
  ])('hold under strict by TypeScript %s', (version, compiler) => {
    const folder = newFolder()
    mkdirSync(join(folder, 'node_modules'))
    const tarball = readdirSync(release).find((name) => /^iprisk-client-.*\.tgz$/.test(name)) ?? ''
    const own = join(folder, 'node_modules/iprisk-client')
    mkdirSync(own)
    execFileSync('tar', ['-xzf', join(release, tarball), '-C', own, '--strip-components=1'])
    for (const name of [
      'express',
      'koa',
      'hono',
      'fastify',
      'better-auth',
      '@better-auth',
      '@types',
    ]) {
      symlinkSync(join(packageRoot, 'node_modules', name), join(folder, 'node_modules', name))
    }
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    writeFileSync(join(folder, 'application.ts'), application)
    const program = ['bin/tsc', 'bin/tsc.js', 'lib/tsc.js']
      .map((path) => join(packageRoot, 'node_modules', compiler, path))
      .find(existsSync)
    const args = [program ?? '', '-p', folder]
    expect(
      spawnSync(process.execPath, [...args, '--version'], { encoding: 'utf8' }).stdout,
    ).toContain(`Version ${version}`)
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, ''])
  })
})
