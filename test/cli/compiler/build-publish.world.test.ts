// Tables that are published as they are built, by `iprisk build` and by a server that refreshes:
// what --publish, --place-name, --signing-key, --stage and --keep-days say is what comes to the place.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  publishSample,
  sampleDay,
  writeSampleWorkspace,
} from '../../../bench/faults/compiler/sample.ts'
import { type FolderServer, serveFolder } from '../../../bench/harness/site.ts'
import { type Day, formatDay, msPerDay } from '../../../src/base/day.ts'
import {
  contentName,
  type Manifest,
  manifestName,
  openManifest,
} from '../../../src/publish/form/manifest.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import { buildWaitMs, eventually } from '../../eventually.ts'
import { newState, serversOfTests } from '../../serve/server.ts'
import { otherTable } from '../../serve/small-tables.ts'
import { newFolder, runProgram } from '../program.ts'

const start = serversOfTests()
const mirror = newFolder()
/** Of the feeds; tables that are published before are of days before. */
const today = (sampleDay + 2) as Day
const keyFile = join(newFolder(), 'publisher.pem')
createSigningKey(keyFile)
const key = readSigningKey(keyFile)
let site: FolderServer

beforeAll(async () => {
  publishSample(mirror, today)
  site = await serveFolder(mirror)
})
afterAll(() => site.close())

interface Ground {
  readonly folder: string
  readonly place: string
  /** Of the older of two tables that are published already, and of the newer. */
  readonly old: readonly [older: string, newer: string]
}

/** A place with tables of five and of four days ago, and a folder to build in. */
async function newGround(): Promise<Ground> {
  const folder = newState()
  writeSampleWorkspace(folder, site.url)
  const place = join(folder, 'place')
  const put = async (table: string, daysAgo: number): Promise<string> => {
    const now = Date.now() - daysAgo * msPerDay
    const how = { key, placeName: 'world', stages: [], keepMs: 30 * msPerDay, force: false, now }
    return (await publishTable(table, { ...how, place: openFolderPlace(place) })).release.id
  }
  const older = await put(otherTable('2026-08-22'), 5)
  return { folder, place, old: [older, await put(otherTable('2026-08-23'), 4)] }
}

const argumentsOf = ({ place }: Pick<Ground, 'place'>, ...stages: readonly string[]) => {
  // The tables there are of a place of that name, and are continued under no other.
  const kept = ['--place-name', 'world', '--keep-days', '3', '--stage', stages.join(',')]
  return ['--publish', place, '--signing-key', keyFile, ...kept]
}

/** What a server that trusts this key alone finds there. */
function manifestAt(place: string): Manifest {
  const opened = openManifest(readFileSync(join(place, manifestName), 'utf8'), [key.trusted])
  if (opened.kind !== 'manifest') throw new Error(opened.why)
  return opened.manifest
}

/** What is published there, with the times of stages counted from when it was. */
function publishedAt(place: string) {
  const [release, ...others] = manifestAt(place).releases
  if (release === undefined) throw new Error('Nothing is published.')
  const { as_of: day, sha256, published } = release
  const stages = release.stages.map(({ percent, from }) => [percent, from - published])
  return { day, sha256, stages, before: others.map(({ id }) => id) }
}

/** After a build with the arguments above and these two stages: `10%`, `100%+1h`. */
const wanted = ({ old }: Ground, table: string) => ({
  day: formatDay(today),
  sha256: contentName(readFileSync(table)),
  stages: [
    [10, 0],
    [100, 3_600_000],
  ],
  // The newest of before stays; the other was older than three days.
  before: [old[1]],
})

describe('a table that is built', () => {
  it('by iprisk build comes to the place, and built again it keeps its stages', async () => {
    const ground = await newGround()
    const { folder, place } = ground
    const table = join(folder, 'world.iprisk')
    const build = async (...stages: readonly string[]): Promise<string> => {
      const args = ['build', '--out', table, ...argumentsOf(ground, ...stages)]
      const { code, out, err } = await runProgram(args, { cwd: folder })
      expect([code, out], err).toEqual([0, `${table}\n`])
      return err
    }
    const said = await build('10%', '100%+1h')
    expect(publishedAt(place)).toEqual(wanted(ground, table))
    const [before] = manifestAt(place).releases
    expect(said).toContain(`Published table ${before!.id} as of ${formatDay(today)} at `)
    await build('50%')
    expect(manifestAt(place).releases[0]).toEqual(before)
  })

  it('comes to the place although its report cannot be written', async () => {
    const ground = await newGround()
    const { folder, place } = ground
    const table = join(folder, 'world.iprisk')
    // Nobody can make a file there, not even root.
    const report = '/proc/self/report.json'
    const args = ['build', '--out', table, '--report', report, ...argumentsOf(ground, '100%')]
    const { code, out, err } = await runProgram(args, { cwd: folder })
    expect([code, out], err).toEqual([0, `${table}\n`])
    expect(err).toMatch(/warning: The report could not be written to \S+report\.json: /)
    expect(publishedAt(place).sha256).toBe(contentName(readFileSync(table)))
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('by a server that refreshes comes to the place', { timeout: 2 * buildWaitMs }, async () => {
    const ground = await newGround()
    const table = join(ground.folder, 'world.iprisk')
    const config = ['--refresh-every', '1h', '--config', join(ground.folder, 'iprisk.json')]
    const args = [...config, ...argumentsOf(ground, '10%', '100%+1h')]
    const server = await start({ table, args })
    const isThere = (): boolean => manifestAt(ground.place).releases[0]?.id !== ground.old[1]
    await eventually(isThere, buildWaitMs, server.stderr)
    expect(publishedAt(ground.place)).toEqual(wanted(ground, table))
  })
})
