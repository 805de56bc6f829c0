// What `iprisk info` says of a server that takes published tables: where from, what came last, and
// why it takes no other.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import { eventually } from '../../eventually.ts'
import { type Server, newState, startServer } from '../../serve/server.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'
import { runHere } from '../program.ts'

const folder = newState()
createSigningKey(join(folder, 'own.pem'))
const key = readSigningKey(join(folder, 'own.pem'))
const place = join(folder, 'place')
const manifest = join(place, 'manifest.json')
const url = pathToFileURL(place).href
const how = { place: openFolderPlace(place), key, stages: [], keepMs: 864e5, force: false } as const
const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
let first = ''
let server: Server

beforeAll(async () => {
  first = (await publishTable(newTable(), { ...how, now: Date.now() })).release.id
  const table = join(newState(), 'world.iprisk')
  const trust = ['--table-url', url, '--table-trust', key.trusted.text]
  server = await startServer({ table, args: [...trust, '--table-poll-seconds', '1'] })
  await eventually(() => existsSync(table))
})
afterAll(async () => {
  await server?.stop('SIGKILL')
})

/** The rows of the source, without what stands before them. */
async function sourceRows(): Promise<readonly string[]> {
  const { code, out, err } = await runHere(['info', '--admin-port', String(server.adminPort)], {
    cwd: folder,
  })
  expect([code, err]).toEqual([0, ''])
  const lines = out.split('\n')
  const from = lines.findIndex((line) => line.startsWith('source '))
  const rows = lines.slice(
    from,
    lines.findIndex((line) => line.startsWith('file ')),
  )
  return rows.map((line) => line.replace(/^(source)? +/, ''))
}

/** As soon as there are as many. */
const rowsOf = (count: number): Promise<readonly string[]> =>
  eventually(async () => {
    const rows = await sourceRows()
    return rows.length === count ? rows : undefined
  })

const like = (...patterns: readonly string[]): unknown =>
  patterns.map((pattern) => expect.stringMatching(new RegExp(`^${pattern}$`)) as string)

const came = (id: string): string =>
  String.raw`${time} ${id}: \d+\.\d MB downloaded, \d+\.\d MB reused, in [\d,]+ ms`

it('says where its tables come from, and what came', async () => {
  expect(await rowsOf(2)).toEqual(like(`${url}: up, last polled ${time}`, came(first)))
})

it('says why it takes no other, until it does', async () => {
  const { release } = await publishTable(otherTable('2026-08-23'), { ...how, now: Date.now() })
  await eventually(async () => (await sourceRows())[1]?.includes(release.id))
  const honest = readFileSync(manifest)
  writeFileSync(manifest, '<html>login</html>')
  const refusal = String.raw`${time} rejected \(manifest\): ${url}: .+`
  const away = `${url}: no successful poll since ${time}`
  expect(await rowsOf(3)).toEqual(like(away, came(release.id), refusal))
  writeFileSync(manifest, honest)
  await eventually(async () => (await sourceRows())[0]?.includes(': up, last polled '))
  // What was wrong last stays to be read.
  expect(await rowsOf(3)).toEqual(
    like(`${url}: up, last polled ${time}`, came(release.id), refusal),
  )
})
