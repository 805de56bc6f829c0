// Stores of which some cannot be opened. Lists are opened when they are first asked for.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStores, silentHooks } from '../../../src/account/stores/open-stores.ts'
import { storeTimeoutMs } from '../../../src/base/limits.ts'
import { openFiles } from './open-files.ts'

it('of stores that cannot all be opened none stays open', async () => {
  const state = mkdtempSync(join(tmpdir(), 'iprisk-state-'))
  writeFileSync(join(state, 'quota'), 'a file')
  const store = { policy: 'refuse', timeoutMs: storeTimeoutMs, replicas: 0 } as const
  await expect(openStores({ state, store }, silentHooks)).rejects.toMatchObject({
    code: 'keys_unusable',
    message: expect.stringContaining('quota'),
  })
  expect(openFiles().filter((path) => path.startsWith(state))).toEqual([])
  rmSync(state, { recursive: true })
})

it('lists that cannot be opened are tried again by whoever asks again', async () => {
  const state = mkdtempSync(join(tmpdir(), 'iprisk-state-'))
  const inTheWay = join(state, 'lists')
  writeFileSync(inTheWay, 'a file')
  const store = { policy: 'refuse', timeoutMs: storeTimeoutMs, replicas: 0 } as const
  const stores = await openStores({ state, store }, silentHooks)
  try {
    await expect(stores.openLists()).rejects.toMatchObject({ code: 'keys_unusable' })
    await expect(stores.openLists()).rejects.toMatchObject({ code: 'keys_unusable' })
    expect((await stores.keyStore.changes(0)).version).toBe(0)
    rmSync(inTheWay)
    const lists = await stores.openLists()
    expect(await lists.tag()).toBe('')
    expect(await stores.openLists()).toBe(lists)
  } finally {
    await stores.close()
    rmSync(state, { recursive: true })
  }
})
