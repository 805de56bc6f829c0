// A published table that comes whole and is refused by the table manager: for good where the table is
// at fault, and for a while where the machine is.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import type { SwapOutcome } from '../../../src/supervisor/tables/table-manager.ts'
import type * as tablePull from '../../../src/supervisor/tables/table-pull.ts'
import { eventually } from '../../eventually.ts'
import { newTable } from '../../serve/small-tables.ts'
import { newState } from '../../serve/server.ts'

// Compiled, for it starts a process.
const compiled = pathToFileURL(join(packageRoot, 'dist/src/supervisor/tables/table-pull.js')).href
const { startTablePull } = (await import(compiled)) as typeof tablePull

/** Pulls one table that is refused with each code in turn, and then taken. */
async function pullWith(...codes: readonly ('disk' | 'canary')[]) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-retry-'))
  createSigningKey(join(folder, 'key.pem'))
  const key = readSigningKey(join(folder, 'key.pem'))
  const place = openFolderPlace(join(folder, 'place'))
  const how = { place, key, stages: [], keepMs: 1, force: false, now: Date.now() }
  const { release } = await publishTable(newTable(), how)
  const left = [...codes]
  let asked = 0
  let current: { readonly id: string; readonly asOf: number } | undefined
  const pull = startTablePull({
    url: pathToFileURL(join(folder, 'place')).href,
    trusted: [key.trusted],
    tablePath: join(folder, 'world.iprisk'),
    stateFolder: newState(),
    machine: 'one',
    everyMs: 50,
    current: () => current,
    tables: {
      loadIfChanged: (): Promise<SwapOutcome> => {
        asked += 1
        const code = left.shift()
        if (code !== undefined) {
          return Promise.resolve({ kind: 'refused', code, reason: `${code}, says the test` })
        }
        current = { id: release.id, asOf: 0 }
        return Promise.resolve({ kind: 'unchanged', table: release.id })
      },
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
  })
  return { pull, asked: () => asked, inUse: () => current?.id, id: release.id }
}

it('is tried again, less and less often, where the machine was at fault', async () => {
  const { pull, asked, inUse, id } = await pullWith('disk', 'disk')
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
  const { pull, asked } = await pullWith('canary')
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
