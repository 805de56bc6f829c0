// The build of the world from all shared feeds, by the command line: every feed parsed, size and
// memory within their limits, and the same bytes from the same inputs.

import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BuildReport } from '../../build/build-report.ts'
import { catalogueFolder, loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { newFolder, runProgram } from '../cli/program.ts'
import { absentFiles, describeFeeds, withSharedData } from '../feeds.ts'
import { worldBuild } from './world-tables.ts'

/** Feeds of which entries are dropped for cause: reserved addresses, resolvers, infrastructure. */
const droppedMax: Readonly<Record<string, number>> = {
  'block-threatfox': 74,
  'block-ipsum': 12,
  'vpn-az0': 1,
  'vpn-gluetun-vpnunlimited': 2,
}

describeFeeds('the world', () => {
  let report: BuildReport
  beforeAll(async () => {
    const built = await worldBuild()
    report = JSON.parse(readFileSync(built.report, 'utf8')) as BuildReport
  })

  it('has every feed of the catalogue whose files could be had, parsed', () => {
    const missing = report.feeds.filter((feed) => feed.state === 'missing').map(({ id }) => id)
    const shared = new Set(withSharedData(loadCatalogue(catalogueFolder)).map(({ id }) => id))
    const lacking = loadCatalogue(catalogueFolder).filter(({ id }) => !shared.has(id))
    expect(missing).toEqual(lacking.map(({ id }) => id).sort())
    const feeds = report.feeds.filter(({ state }) => state !== 'built in' && state !== 'missing')
    expect(feeds).toHaveLength(112)
    // Where the shared folder has the alternate alone, that is taken, and the report says so.
    const inPlace = new Set([...absentFiles].map((path) => path.slice(0, path.indexOf('/'))))
    for (const { id, problem = '' } of feeds) {
      expect(problem, id).toMatch(inPlace.has(id) ? / stands in$/ : /^$/)
    }
    expect(feeds.filter(({ kept }) => kept === 0)).toEqual([])
    for (const feed of feeds) {
      const dropped = Object.values(feed.dropped).reduce((sum, count) => sum + count, 0)
      expect(dropped, feed.id).toBeLessThanOrEqual(droppedMax[feed.id] ?? 0)
      expect(feed.entries, feed.id).toBe(feed.kept + dropped)
      expect(feed.unique, feed.id).toBeLessThanOrEqual(feed.kept)
      expect(feed.unique, feed.id).toBeGreaterThan(0)
    }
  })

  it('is as large as the world and no larger than its limits', () => {
    const { table } = report
    expect(table.ipv4_boundaries).toBeGreaterThanOrEqual(3_600_000)
    expect(table.ipv6_boundaries).toBeGreaterThanOrEqual(4_300_000)
    expect(table.bytes).toBeLessThanOrEqual(320e6)
    expect(report.peak_bytes).toBeLessThanOrEqual(3e9)
  })

  it('covers addresses of every kind', () => {
    for (const [kind, covered] of Object.entries(report.kinds)) {
      expect(covered.ipv4, kind).toBeGreaterThan(1000)
    }
  })
})

describeFeeds('a second build', () => {
  const folder = newFolder()
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('gives the same bytes, offline, from what the first one has stored', async () => {
    const first = await worldBuild()
    const out = join(folder, 'again')
    const built = await runProgram(
      [
        'build',
        '--all-feeds',
        '--offline',
        '--as-of=2026-08-22',
        `--snapshots=${first.snapshots}`,
        `--out=${out}`,
      ],
      { cwd: folder },
    )
    expect(built.code, built.err).toBe(0)
    expect(hashOf(out)).toBe(hashOf(first.table))
    // A pipe gets plain lines, and the path of the table alone on standard output.
    expect(built.out).toBe(`${out}\n`)
    expect(built.err).toMatch(
      /^warning: \d+ feeds have no stored copy, .*\nfetch: \d+ stored, \d+ miss/,
    )
    const older = built.err.match(/no newer edition .*; used: embedded (?:networks|places) of /g)
    expect(older).toHaveLength(2)
    expect(built.err).not.toContain('\u001B')
  })
})

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
