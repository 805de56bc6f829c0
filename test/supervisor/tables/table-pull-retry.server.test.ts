// A published table that comes whole and is refused by the table manager: for good where the table is
// at fault, and for a while where the machine is.

import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { parseDay } from '../../../src/base/day.ts'
import { publishRollback, publishTable } from '../../../src/publish/publish-table.ts'
import type { SwapOutcome } from '../../../src/supervisor/tables/table-manager.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { eventually } from '../../eventually.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { newPublisher, pullFrom } from './pulling.ts'

/** Pulls one table that is refused with each code in turn, and then taken; after a withdrawn one. */
async function pullWith({
  codes = [],
  bad,
  next,
  whenTaken = () => undefined,
}: {
  readonly codes?: readonly ('disk' | 'canary')[]
  /** The table in use, which the publisher has withdrawn. */
  readonly bad?: string
  /** What it has published since. */
  readonly next?: string
  /** Before the table comes to its place. */
  readonly whenTaken?: (place: string) => void
}) {
  const publisher = newPublisher({ keepMs: 1 })
  const { how, folder, place, tablePath } = publisher
  let { release } = await publishTable(newTable(), how)
  if (bad !== undefined) {
    await publishTable(bad, how)
    ;({ release } = await publishRollback(release.id, how))
    if (next !== undefined) ({ release } = await publishTable(next, how))
  }
  const left = [...codes]
  let asked = 0
  const forced: boolean[] = []
  const files: string[] = []
  const times: number[] = []
  let current: { readonly id: string; readonly asOf: number } | undefined =
    bad === undefined ? undefined : { id: idOf(bad), asOf: parseDay(bad.slice(-10))! }
  const pull = pullFrom(publisher, {
    url: pathToFileURL(place).href,
    current: () => current,
    tables: {
      take: (file, { force }): Promise<SwapOutcome> => {
        files.push(file)
        asked += 1
        times.push(performance.now())
        forced.push(force)
        const code = left.shift()
        if (code !== undefined) {
          return Promise.resolve({ kind: 'refused', code, reason: `${code}, says the test` })
        }
        current = { id: release.id, asOf: 0 }
        whenTaken(tablePath)
        return Promise.resolve({ kind: 'unchanged', table: release.id })
      },
    },
  })
  const seen = { forced, files, times, folder }
  return { pull, asked: () => asked, inUse: () => current?.id, id: release.id, ...seen }
}

function idOf(path: string): string {
  const table = openTable(path)
  table.close()
  return table.id
}

it('is tried again, less and less often, where the machine was at fault', async () => {
  const { pull, asked, inUse, id, files, times, folder } = await pullWith({
    codes: ['disk', 'disk'],
  })
  try {
    await eventually(() => inUse() === id)
    await eventually(() => pull.status().up)
    expect(asked()).toBe(3)
    const [first = 0, second = 0, third = 0] = times
    // A look meant to come after 50 ms, give or take a fifth, waits 40 ms, then 80.
    expect(third - second).toBeGreaterThan(75)
    expect(second - first).toBeGreaterThan(35)
    expect(new Set(files)).toEqual(new Set([join(folder, 'pulled', `${id}.iprisk`)]))
    expect(existsSync(join(folder, 'world.iprisk'))).toBe(true)
    expect(pull.status().refusals_by.unfit).toBe(2)
  } finally {
    pull.stop()
  }
})

it('is not tried again where the table is at fault', async () => {
  const { pull, asked, folder } = await pullWith({ codes: ['canary'] })
  try {
    await eventually(() => pull.status().refusals_by.unfit === 1)
    const { looks } = pull.status()
    await eventually(() => pull.status().looks > looks + 5)
    expect(asked()).toBe(1)
    expect(existsSync(join(folder, 'world.iprisk'))).toBe(false)
    expect(pull.status()).toMatchObject({ up: false, last_refusal: { code: 'unfit' } })
  } finally {
    pull.stop()
  }
})

it('is taken whatever its trials say, where the publisher has withdrawn the table in use', async () => {
  const { pull, forced, inUse, id } = await pullWith({ bad: otherTable('2026-08-23') })
  try {
    await eventually(() => inUse() === id)
    expect(forced).toEqual([true])
  } finally {
    pull.stop()
  }
})

it('is tried as ever where it is newer than the withdrawn one', async () => {
  const [bad, next] = [otherTable('2026-08-23'), otherTable('2026-08-24')]
  const { pull, forced } = await pullWith({ codes: ['canary'], bad, next })
  try {
    await eventually(() => pull.status().refusals_by.unfit === 1)
    expect(forced).toEqual([false])
  } finally {
    pull.stop()
  }
})

it('comes to its place later, where the disk did not let it', async () => {
  const { pull, inUse, id, folder } = await pullWith({ whenTaken: (place) => mkdirSync(place) })
  try {
    await eventually(() => inUse() === id)
    await eventually(() => pull.status().last_refusal !== null)
    expect(pull.status().up).toBe(false)
    rmdirSync(join(folder, 'world.iprisk'))
    await eventually(() => existsSync(join(folder, 'world.iprisk')))
    await eventually(() => pull.status().up)
    expect(idOf(join(folder, 'world.iprisk'))).toBe(id)
  } finally {
    pull.stop()
  }
})

it('is refused where the first answer is that nothing has changed', async () => {
  const web = createServer((_request, response) => response.writeHead(304).end())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const { port } = web.address() as AddressInfo
  const pull = pullFrom(newPublisher({ keepMs: 1 }), {
    url: `http://127.0.0.1:${port}/`,
    current: () => undefined,
    tables: { take: () => Promise.reject(new Error('never')) },
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
