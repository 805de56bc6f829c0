// What a publisher does while a server fetches a table from it, over a line that takes its time: a
// rollback ends the fetch, a newer table is taken next.

import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishRollback, publishTable } from '../../../src/publish/publish-table.ts'
import type * as tablePull from '../../../src/supervisor/tables/table-pull.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { eventually } from '../../eventually.ts'
import { newState } from '../../serve/server.ts'
import { otherTable } from '../../serve/small-tables.ts'

// Compiled, for it starts a process.
const compiled = pathToFileURL(join(packageRoot, 'dist/src/supervisor/tables/table-pull.js')).href
const { startTablePull } = (await import(compiled)) as typeof tablePull

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end()
})

/** A web server of that folder, which can hold back what is asked of it for parts. */
async function serveSlowly(folder: string) {
  const held: (() => void)[] = []
  let holds = true
  const answer = (response: ServerResponse, path: string): void => {
    if (existsSync(path)) response.writeHead(200).end(readFileSync(path))
    else response.writeHead(404).end()
  }
  const web = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    const act = (): void => answer(response, join(folder, name))
    if (holds && name.startsWith('parts/')) held.push(act)
    else act()
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    web.closeAllConnections()
    web.close()
  })
  return {
    url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/`,
    held: () => held.length,
    /** What is asked from now on is answered. */
    hurry: () => {
      holds = false
    },
    letGo: () => {
      for (const act of held.splice(0)) act()
    },
  }
}

/** A machine with the table of 23 August, and the one of the 24th on its slow way to it. */
async function fetchSlowly() {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-meanwhile-'))
  createSigningKey(join(folder, 'key.pem'))
  const key = readSigningKey(join(folder, 'key.pem'))
  const at = { place: openFolderPlace(join(folder, 'place')), key }
  const how = { ...at, stages: [], keepMs: 864e5, force: false, now: Date.now() }
  const days = ['2026-08-22', '2026-08-23', '2026-08-24']
  const ids: string[] = []
  for (const day of days) ids.push((await publishTable(otherTable(day), how)).release.id)
  const site = await serveSlowly(join(folder, 'place'))
  const taken: string[] = []
  const [, own = ''] = ids
  let current = { id: own, asOf: 0 }
  const pull = startTablePull({
    url: site.url,
    trusted: [key.trusted],
    tablePath: join(folder, 'world.iprisk'),
    stateFolder: newState(),
    machine: 'one',
    everyMs: 50,
    current: () => current,
    tables: {
      take: (file) => {
        const table = openTable(file)
        table.close()
        current = { id: table.id, asOf: table.asOf }
        taken.push(table.id)
        return Promise.resolve({ kind: 'unchanged', table: table.id })
      },
    },
    log,
  })
  ends.push(pull.stop)
  await eventually(() => site.held() > 0)
  return { how, ids, site, pull, taken }
}

it('leaves the fetch of a table that is withdrawn, and goes back at once', async () => {
  const { how, ids, site, pull, taken } = await fetchSlowly()
  site.hurry()
  await publishRollback(ids[0]!, how)
  await eventually(() => taken.length > 0)
  // The one that was on its way was neither waited for nor tried.
  expect(taken).toEqual([ids[0]])
  await eventually(() => !pull.status().pulling)
  const { up, last_refusal: refusal, last_pull: last } = pull.status()
  expect({ up, refusal, last: last?.table }).toEqual({ up: true, refusal: null, last: ids[0] })
})

it('hears of a newer table meanwhile, and takes it after the one that it fetches', async () => {
  const { how, ids, site, pull, taken } = await fetchSlowly()
  const { release } = await publishTable(otherTable('2026-08-25'), how)
  await eventually(() => pull.status().offered === release.id)
  expect(pull.status()).toMatchObject({ pulling: true, last_refusal: null })
  expect(taken).toEqual([])
  site.hurry()
  site.letGo()
  await eventually(() => taken.length > 1)
  expect(taken).toEqual([ids[2], release.id])
})
