// What a publisher does while a server fetches a table from it, over a line that takes its time: a
// rollback ends the fetch, a newer table is taken next.

import { existsSync, readFileSync } from 'node:fs'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { parseDay } from '../../../src/base/day.ts'
import { publishRollback, publishTable } from '../../../src/publish/publish-table.ts'
import { eventually } from '../../eventually.ts'
import { otherTable } from '../../serve/small-tables.ts'
import { newPublisher, playTables, pullFrom } from './pulling.ts'

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

/**
 * A machine with the table of 23 August, or `inUse`, and the one of the 24th on its slow way to it.
 */
async function fetchSlowly(inUse?: { readonly id: string; readonly asOf: number }) {
  const publisher = newPublisher({ keepMs: 864e5 })
  const { how, place } = publisher
  const days = ['2026-08-22', '2026-08-23', '2026-08-24']
  const ids: string[] = []
  for (const day of days) ids.push((await publishTable(otherTable(day), how)).release.id)
  const site = await serveSlowly(place)
  const [, own = ''] = ids
  const { taken, played } = playTables(inUse ?? { id: own, asOf: 0 })
  const pull = pullFrom(publisher, {
    url: site.url,
    ...played,
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

it('leaves the fetch of a withdrawn table also where nothing else can be taken', async () => {
  const inUse = { id: 'built-here', asOf: parseDay('2026-08-23')! }
  const { how, ids, site, pull, taken } = await fetchSlowly(inUse)
  site.hurry()
  await publishRollback(ids[0]!, how)
  await eventually(() => pull.status().refusals_by.older > 0 && !pull.status().pulling)
  // It was not waited for until it was too slow.
  const counts = Object.entries(pull.status().refusals_by)
  expect(counts.flatMap(([code, times]) => (times > 0 ? [code] : []))).toEqual(['older'])
  expect(taken).toEqual([])
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
