// Floors: a room imports only from lower floors (ARCHITECTURE.md lists them), no circles, and each
// library has one home.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { floors, innerFloors } from './floors.ts'
import { type SourceFile, sourceFiles } from './source.ts'

const files = sourceFiles(['src', 'build', 'deploy/reference'])

/** Arrows from a part to one of its own floor or a higher one, or to none that is known. */
function wrongArrowsAmong(
  from: readonly SourceFile[],
  order: readonly (readonly string[])[],
): readonly string[] {
  const parts = order.flat().toSorted((a, b) => b.length - a.length)
  const partOf = (path: string): string =>
    parts.find((part) => path === part || path.startsWith(`${part}/`)) ?? ''
  const floorOf = (part: string): number => order.findIndex((floor) => floor.includes(part))
  return from.flatMap(({ path, imports }) =>
    imports
      .filter((target) => {
        const [part, other] = [partOf(path), partOf(target)]
        if (part === '' || part === other) return false
        return floorOf(other) < 0 || floorOf(other) >= floorOf(part)
      })
      .map((target) => `${path} → ${target}`),
  )
}

const wrongArrows = (from: readonly SourceFile[]): readonly string[] =>
  wrongArrowsAmong(from, floors)

/** The same inside a room: arrows that leave it do not count. */
function wrongArrowsInside(from: readonly SourceFile[], room: string): readonly string[] {
  const order = (innerFloors[room] ?? []).map((floor) => floor.map((part) => `${room}/${part}`))
  const inside = from
    .filter(({ path }) => path.startsWith(`${room}/`))
    .map((file) => ({
      ...file,
      imports: file.imports.filter((target) => target.startsWith(`${room}/`)),
    }))
  return wrongArrowsAmong(inside, order)
}

/** The first circle of imports that a walk finds, as a path of files. */
function circle(from: readonly SourceFile[]): readonly string[] | undefined {
  const imports = new Map(from.map((file) => [file.path, file.imports]))
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of imports.get(path) ?? []) {
      const found = walk(next, [...trail, path])
      if (found !== undefined) return found
    }
    done.add(path)
    return undefined
  }
  for (const path of imports.keys()) {
    const found = walk(path, [])
    if (found !== undefined) return found
  }
  return undefined
}

/** Where each library may be imported. One entry a package that the product's code uses. */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@clack/prompts': ['src/cli/'],
  '@marcbachmann/cel-js': ['src/policy/'],
  '@duckdb/node-api': ['build/history/duckdb.ts'],
  '@photostructure/tz-lookup': ['build/places/'],
  '@streamparser/json': ['build/parse/'],
  commander: ['src/cli/'],
  'd3-geo': ['src/console/page/address/place-map.tsx'],
  'countries-list': ['build/places/'],
  'csv-parse': ['build/parse/'],
  // Types alone, of what whoever imports the middleware has.
  'better-auth': ['src/client/middleware/better-auth-plugin.ts'],
  express: ['src/client/middleware/connect-middleware.ts'],
  fastify: ['src/client/middleware/fastify-hook.ts'],
  hono: ['src/client/middleware/hono-middleware.ts'],
  koa: ['src/client/middleware/koa-middleware.ts'],
  flatbuffers: ['src/schema/', 'src/table/', 'build/write/'],
  aws4fetch: ['src/publish/fetch/object-store.ts'],
  fzstd: ['src/base/text/unpack-text.ts', 'src/console/page/parts/file-drop.tsx'],
  ioredis: ['src/account/stores/redis/redis-connection.ts'],
  marked: ['deploy/reference/errors-page.ts'],
  koffi: [
    'src/base/system/file-lock.ts',
    'src/base/system/memory-map.ts',
    'src/base/system/thread-priority.ts',
  ],
  lmdb: ['src/account/stores/lmdb/'],
  'mmdb-lib': ['build/mmdb/'],
  pino: ['src/base/log.ts'],
  piscina: ['src/pool/'],
  preact: ['src/console/page/'],
  'prom-client': ['src/admin/metrics/prometheus-text.ts'],
  'structured-headers': ['src/agents/'],
  'topojson-client': ['src/console/page/address/place-map.tsx'],
  'uWebSockets.js': ['src/http/', 'src/adapters/', 'src/worker/'],
  uplot: ['src/console/page/traffic/draw-plot.ts'],
  'world-atlas': ['src/console/page/address/place-map.tsx'],
  undici: ['build/fetch/'],
  zod: [
    'src/api/',
    'deploy/reference/openapi.ts',
    'src/config/',
    'src/policy/policy-file.ts',
    'src/policy/policy-schema.ts',
    'src/publish/form/',
    'build/acceptance/acceptance-ledger.ts',
    'build/catalogue/',
    'build/fetch/snapshot-record.ts',
    'build/parse/',
    'src/admin/admin-api.ts',
  ],
}

function homeless(from: readonly SourceFile[]): string[] {
  return from.flatMap(({ path, packages }) =>
    packages
      .filter((name) => !(homes[name] ?? []).some((home) => path.startsWith(home)))
      .map((name) => `${path} imports ${name}`),
  )
}

/** Files among `from` that import a package and are loaded at run time by loading `start`. */
function loadersOf(name: string, start: string, from: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(from.map((file) => [file.path, file]))
  const loaded = new Set([start])
  for (const path of loaded) for (const next of byPath.get(path)?.loads ?? []) loaded.add(next)
  return [...loaded].filter((path) => byPath.get(path)?.packages.includes(name))
}

describe('the floors', () => {
  it('hold every file of src and build', () => {
    expect(files.length).toBeGreaterThan(100)
    const known = floors.flat()
    const homeless = files.filter(
      ({ path }) => !known.some((room) => path === room || path.startsWith(`${room}/`)),
    )
    expect(homeless).toEqual([])
  })

  it('name nothing that does not exist', () => {
    const named = [
      ...floors.flat(),
      ...Object.entries(innerFloors).flatMap(([room, order]) =>
        order.flat().map((part) => `${room}/${part}`),
      ),
    ]
    expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
  })

  it('have no arrow that goes up or across', () => {
    expect(wrongArrows(files)).toEqual([])
  })

  it.each(Object.keys(innerFloors))('hold inside %s, too, for every file of it', (room) => {
    const parts = (innerFloors[room] ?? []).flat().map((part) => `${room}/${part}`)
    const inside = files.filter(({ path }) => path.startsWith(`${room}/`))
    expect(
      inside.filter(({ path }) => !parts.some((part) => `${path}/`.startsWith(`${part}/`))),
    ).toEqual([])
    expect(wrongArrowsInside(files, room)).toEqual([])
  })

  it('have no room of more than 16 files that is not divided', () => {
    const counts = new Map<string, number>()
    for (const { path } of files) {
      const folder = path.slice(0, path.lastIndexOf('/'))
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    expect([...counts].filter(([, count]) => count > 16)).toEqual([])
  })

  it('have no circle', () => {
    expect(circle(files)).toBeUndefined()
  })

  it('keep each library at its home', () => {
    expect(homeless(files)).toEqual([])
    const one = files.filter((file) => file.packages.includes('lmdb'))
    expect(one.length).toBeLessThanOrEqual(1)
  })

  it.each([
    'src/index.ts',
    'src/pool/pool-thread.ts',
    'src/supervisor/tables/prepare-table-main.ts',
    'src/supervisor/tables/verify-thread-main.ts',
    'src/worker/worker-main.ts',
  ])('keep zod out of what %s loads: the OpenAPI document is made when compiling', (start) => {
    expect(files.map(({ path }) => path)).toContain(start)
    expect(loadersOf('zod', start, files)).toEqual([])
    expect(loadersOf('zod', 'deploy/reference/write-reference.ts', files)).toContain(
      'src/api/wire.ts',
    )
  })

  it.each(['src/cli/lines/check-command.ts', 'src/cli/lines/explain-command.ts'])(
    'keep stores, pools and the compiler of conditions out of what %s begins with',
    (start) => {
      expect(files.map(({ path }) => path)).toContain(start)
      const late = ['lmdb', 'piscina', '@marcbachmann/cel-js']
      expect(late.flatMap((name) => loadersOf(name, start, files))).toEqual([])
    },
  )

  it('keep the compiler out of what serves', () => {
    const serving = files.filter(({ path }) =>
      /^src\/(http|supervisor|admin|serve|table|pool)\//.test(path),
    )
    expect(
      serving.flatMap(({ imports }) => imports.filter((it) => it.startsWith('build'))),
    ).toEqual([])
  })
})

describe('the test of the floors', () => {
  const file = (path: string, imports: readonly string[], packages: readonly string[] = []) => ({
    path,
    text: '',
    imports,
    loads: imports,
    packages,
  })

  it('sees an arrow up, an arrow across and an unknown room', () => {
    const arrows = wrongArrows([
      file('src/table/open-table.ts', [
        'src/worker/worker.ts',
        'src/account/keys/key-text.ts',
        'src/base/day.ts',
      ]),
      file('src/base/log.ts', ['src/ip/format-address.ts', 'src/attic/old.ts']),
      file('src/ip/format-address.ts', ['src/base/assert.ts']),
    ])
    expect(arrows).toEqual([
      'src/table/open-table.ts → src/worker/worker.ts',
      'src/table/open-table.ts → src/account/keys/key-text.ts',
      'src/base/log.ts → src/ip/format-address.ts',
      'src/base/log.ts → src/attic/old.ts',
    ])
  })

  it('sees a circle', () => {
    const found = circle([file('a.ts', ['b.ts']), file('b.ts', ['c.ts']), file('c.ts', ['b.ts'])])
    expect(found).toEqual(['b.ts', 'c.ts', 'b.ts'])
  })

  it('sees what loads a library, through other files and a circle', () => {
    const from = [
      file('a.ts', ['b.ts']),
      file('b.ts', ['a.ts', 'c.ts']),
      file('c.ts', [], ['zod']),
      file('d.ts', [], ['zod']),
    ]
    expect(loadersOf('zod', 'a.ts', from)).toEqual(['c.ts'])
  })

  it('sees a library away from home, and one that has none', () => {
    const found = homeless([
      file('src/cli/main.ts', [], ['commander', 'koffi', 'left-pad']),
      file('src/base/system/memory-map.ts', [], ['koffi']),
    ])
    expect(found).toEqual(['src/cli/main.ts imports koffi', 'src/cli/main.ts imports left-pad'])
  })

  it('let the console compute in its own process alone', () => {
    const byPath = new Map(files.map((file) => [file.path, file]))
    const loaded = new Set(['src/console/open-console.ts'])
    for (const path of loaded) for (const next of byPath.get(path)?.loads ?? []) loaded.add(next)
    expect(loaded).toContain('src/console/process/console-process.ts')
    const computing = /^src\/(table\/open-table|compare\/|policy\/decision-memory|export\/)/
    expect([...loaded].filter((path) => computing.test(path))).toEqual([])
  })
})
