// The console where it is off: no page, no routes, and none of its code in any process.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { newState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { adminClient, ownPage } from './console-client.ts'

it('is not there where it is off', async () => {
  const off = await startServer({ table: writeSmallTable(), args: ['--console', 'off'] })
  try {
    const plain = adminClient(off.adminPort)
    expect((await plain('GET', '/console')).status).toBe(404)
    expect((await plain('GET', '/admin/address?ip=9.1.2.3')).status).toBe(404)
    expect((await plain('GET', '/admin/audit')).status).toBe(200)
    expect((await plain('GET', '/admin/audit', { headers: ownPage })).status).toBe(403)
  } finally {
    await off.stop('SIGKILL')
  }
})

/** What a file of a bundle is made of. */
function modulesOf(url: string): readonly string[] {
  const path = fileURLToPath(url)
  const bundle: unknown = JSON.parse(readFileSync(join(dirname(path), 'modules.json'), 'utf8'))
  return (bundle as Readonly<Record<string, readonly string[]>>)[basename(path)] ?? []
}

it.each(['off', 'on'])('loads its code in no process unless it is on: %s', async (how) => {
  const folder = newState()
  const [log, hook, load] = ['loaded.txt', 'hook.mjs', 'load.mjs'].map((name) => join(folder, name))
  writeFileSync(
    hook!,
    `import { appendFileSync } from 'node:fs'
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(log)}, url + '\\n')
      return next(url, context)
    }`,
  )
  writeFileSync(
    load!,
    "import { register } from 'node:module'\nregister('./hook.mjs', import.meta.url)",
  )
  const one = await startServer({
    table: writeSmallTable(),
    args: ['--console', how],
    environment: { NODE_OPTIONS: `--import=${load}` },
  })
  await one.stop('SIGKILL')
  const urls = readFileSync(log!, 'utf8').split('\n')
  const loaded = urls.filter((url) => url.includes('/dist/src/programs/')).flatMap(modulesOf)
  expect(loaded.filter((path) => path.startsWith('src/serve/'))).not.toHaveLength(0)
  const own = ['console/open-console', 'observe/traffic-counter', 'observe/top-sketch']
  const seen = own.filter((part) => loaded.includes(`src/${part}.js`))
  expect(seen).toEqual(how === 'on' ? own : [])
  const ofConsole = loaded.some((path) => path.startsWith('src/console/'))
  expect(ofConsole).toBe(how === 'on')
})
