// A published table that comes whole and is refused by the table manager: for good where the table is
// at fault, and for a while where the machine is.

import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishRollback, publishTable } from '../../../src/publish/publish-table.ts'
import type { SwapOutcome } from '../../../src/supervisor/tables/table-manager.ts'
import { openTable } from '../../../src/table/open-table.ts'
import type * as tablePull from '../../../src/supervisor/tables/table-pull.ts'
import { eventually } from '../../eventually.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { newState } from '../../serve/server.ts'

// Compiled, for it starts a process.
const compiled = pathToFileURL(join(packageRoot, 'dist/src/supervisor/tables/table-pull.js')).href
const { startTablePull } = (await import(compiled)) as typeof tablePull

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never

/** Pulls one table that is refused with each code in turn, and then taken; after a withdrawn one. */
async function pullWith(codes: readonly ('disk' | 'canary')[], bad?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-retry-'))
  createSigningKey(join(folder, 'key.pem'))
  const key = readSigningKey(join(folder, 'key.pem'))
  const place = openFolderPlace(join(folder, 'place'))
  const how = { place, key, stages: [], keepMs: 1, force: false, now: Date.now() }
  let { release } = await publishTable(newTable(), how)
  if (bad !== undefined) {
    await publishTable(bad, how)
    ;({ release } = await publishRollback(release.id, how))
  }
  const left = [...codes]
  let asked = 0
  const forced: boolean[] = []
  const files: string[] = []
  let current = bad === undefined ? undefined : { id: idOf(bad), asOf: 1e6 }
  const pull = startTablePull({
    url: pathToFileURL(join(folder, 'place')).href,
    trusted: [key.trusted],
    tablePath: join(folder, 'world.iprisk'),
    stateFolder: newState(),
    machine: 'one',
    everyMs: 50,
    current: () => current,
    tables: {
      take: (file, { force }): Promise<SwapOutcome> => {
        files.push(file)
        asked += 1
        forced.push(force)
        const code = left.shift()
        if (code !== undefined) {
          return Promise.resolve({ kind: 'refused', code, reason: `${code}, says the test` })
        }
        current = { id: release.id, asOf: 0 }
        return Promise.resolve({ kind: 'unchanged', table: release.id })
      },
    },
    log,
  })
  return { pull, asked: () => asked, forced, inUse: () => current?.id, id: release.id }
}

function idOf(path: string): string {
  const table = openTable(path)
  table.close()
  return table.id
}

it('is tried again, less and less often, where the machine was at fault', async () => {
  const { pull, asked, inUse, id } = await pullWith(['disk', 'disk'])
  try {
    await eventually(() => inUse() === id)
    await eventually(() => pull.status().up)
    expect(asked()).toBe(3)
    expect(pull.status().refusals_by.unfit).toBe(2)
  } finally {
    pull.stop()
  }
})

it('is not tried again where the table is at fault', async () => {
  const { pull, asked } = await pullWith(['canary'])
  try {
    await eventually(() => pull.status().refusals_by.unfit === 1)
    const { looks } = pull.status()
    await eventually(() => pull.status().looks > looks + 5)
    expect(asked()).toBe(1)
    expect(pull.status()).toMatchObject({ up: false, last_refusal: { code: 'unfit' } })
  } finally {
    pull.stop()
  }
})

it('is taken whatever its trials say, where the publisher has withdrawn the table in use', async () => {
  const { pull, forced, inUse, id } = await pullWith([], otherTable('2026-08-23'))
  try {
    await eventually(() => inUse() === id)
    expect(forced).toEqual([true])
  } finally {
    pull.stop()
  }
})

it('is refused where the first answer is that nothing has changed', async () => {
  const web = createServer((_request, response) => response.writeHead(304).end())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const { port } = web.address() as AddressInfo
  const pull = startTablePull({
    url: `http://127.0.0.1:${port}/`,
    trusted: [],
    tablePath: join(newState(), 'world.iprisk'),
    stateFolder: newState(),
    machine: 'one',
    everyMs: 50,
    current: () => undefined,
    tables: { take: () => Promise.reject(new Error('never')) },
    log,
  })
  try {
    await eventually(() => pull.status().refusals_by.status > 1)
    expect(pull.status().last_refusal?.reason).toContain('304')
  } finally {
    pull.stop()
    web.closeAllConnections()
    web.close()
  }
})
