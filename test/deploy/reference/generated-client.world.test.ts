// A client that a generator which is not ours (openapi-typescript, openapi-fetch) makes of the
// document that a server sends: it compiles, wrong uses of it do not, and it works against that
// server.

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { type Server, keyedState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

// In the project, so that the packages are found.
const folder = join(packageRoot, 'dist/generated-client')
const modules = join(packageRoot, 'node_modules')

let server: Server
let key = ''

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const keyed = await keyedState({ test: true })
  key = keyed.key
  server = await startServer({ table: writeSmallTable(), state: keyed.state })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The generator calls TypeScript's API, which the compiler in use here has no more: 5.9 has it. */
const olderTypeScript = `data:text/javascript,${encodeURIComponent(
  `import { register } from 'node:module'
   register('data:text/javascript,' + encodeURIComponent(
     'export const resolve = (name, context, next) => next(name === "typescript" ? "typescript59" : name, context)'))`,
)}`

const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

const [baseUrl = '', key = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } })

const { data, error } = await client.POST('/v1/intelligence/ip-risk/check', {
  params: { query: { include: 'insights' } },
  body: { ip: '198.18.0.6' },
})
if (data === undefined) throw new Error(error.error.code)
const classification: 'tor' | components['schemas']['CheckAnswer']['classification'] = data.classification
const asn: number | undefined = data.network?.asn

const batch = await client.POST('/v1/intelligence/ip-risk/check/batch', {
  body: { ips: ['198.18.0.5', 'x'] },
})
const rows = batch.data?.results.map((row) => ('error' in row ? row.error.code : row.classification))

const refused = await client.POST('/v1/intelligence/ip-risk/check', { body: { ip: '198.18.0.21' } })
const code: components['schemas']['Error']['error']['code'] | undefined = refused.error?.error.code
const wait = refused.response.headers.get('retry-after') !== null

const meta = await client.GET('/v1/intelligence/ip-risk/meta')
console.log(JSON.stringify({ classification, asn, rows, code, wait, plan: meta.data?.key.plan }))
`

const wrongUses = `
import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'

const client = createClient<paths>({ baseUrl: '' })
// @ts-expect-error A body without its member.
await client.POST('/v1/intelligence/ip-risk/check', { body: {} })
// @ts-expect-error A path that is not there.
await client.POST('/v1/intelligence/ip-risk/look', { body: { ip: '' } })
const { data } = await client.POST('/v1/intelligence/ip-risk/check', { body: { ip: '' } })
// @ts-expect-error A value that no answer has.
if (data?.classification === 'ordinary') throw new Error()
`

it('compiles and works', async () => {
  const document = await fetch(`http://127.0.0.1:${server.port}/openapi.json`)
  writeFileSync(join(folder, 'openapi.json'), await document.text())
  const generator = join(modules, 'openapi-typescript/bin/cli.js')
  const generated = spawnSync(
    process.execPath,
    ['--import', olderTypeScript, generator, 'openapi.json', '-o', 'schema.ts'],
    { cwd: folder, encoding: 'utf8' },
  )
  expect({ status: generated.status, said: generated.stderr }).toMatchObject({ status: 0 })

  writeFileSync(join(folder, 'program.ts'), program)
  writeFileSync(join(folder, 'wrong-uses.ts'), wrongUses)
  const options = {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      rewriteRelativeImportExtensions: true,
      outDir: 'out',
      rootDir: '.',
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const compiler = join(modules, 'typescript/bin/tsc')
  const compiled = spawnSync(process.execPath, [compiler, '-p', '.'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(compiled.stdout).toBe('')
  expect(compiled.status).toBe(0)

  const ran = spawnSync(
    process.execPath,
    [join(folder, 'out/program.js'), `http://127.0.0.1:${server.port}`, key],
    { encoding: 'utf8' },
  )
  expect(ran.stderr).toBe('')
  expect(JSON.parse(ran.stdout)).toEqual({
    classification: 'tor',
    asn: 64497,
    rows: ['vpn', 'invalid_input'],
    code: 'api_quota_exceeded',
    wait: true,
    plan: 'internal',
  })
})
