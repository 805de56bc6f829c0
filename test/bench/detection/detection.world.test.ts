// The measuring programs as they are run, from dist: on small files, and on a few real feeds.

import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvaluateReport } from '../../../bench/detection/evaluate.ts'
import {
  type KeptCalibration,
  calibrationPage,
} from '../../../bench/detection/report/calibration.ts'
import { readKept } from '../../../bench/detection/report/kept-result.ts'
import { appendOutcomes } from '../../../src/feedback/feedback-files.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { worldHistory } from '../../world/world-tables.ts'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(name: string, flags: readonly string[]): Promise<Ended> {
  const program = fileURLToPath(
    new URL(`../../../dist/bench/detection/${name}.js`, import.meta.url),
  )
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...flags],
      { timeout: 280_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, stdout, stderr })
      },
    )
  })
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-measure-process-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('evaluate', () => {
  it('prints a table, and the same as JSON', async () => {
    const table = writeSmallTable()
    const exits = join(folder, 'exits.txt')
    const homes = join(folder, 'homes.txt')
    writeFileSync(exits, '9.1.2.3\n9.1.2.4\n')
    writeFileSync(homes, '9.3.0.0/24\nattic\n')
    const flags = [`${exits}:tor`, `${homes}:clean`, '--table', table]
    const text = await run('evaluate', flags)
    expect(text.code).toBe(0)
    expect(text.stderr).toContain(`  ${homes}:line 2: no address, prefix or range: attic\n`)
    expect(text.stdout).toMatch(/exits\.txt: tor +2 +50\.0 % \(9\.5 %–90\.5 %\) /)
    expect(text.stdout).toMatch(/^nothing +access networks, IPv4 addresses +33,554,432 /m)
    const json = await run('evaluate', [...flags, '--json'])
    const report = JSON.parse(json.stdout) as EvaluateReport
    expect(report.files.map(({ label, recall }) => [label, recall.share])).toEqual([
      ['tor', 0.5],
      ['clean', 1],
    ])
  })

  it.each([
    [[], /FILE:label/],
    [['exits.txt'], /FILE:label/],
    [['exits.txt:good'], /a label is vpn/],
    [['/nowhere/exits.txt:tor'], /no file/],
    [['--cross', '--mirror', '/nowhere'], /no folder/],
    [['--keep', 'later'], /--cross/],
    [['--cross', '--keep', '../up'], /letters, digits/],
  ])('%j is a mistake that it names', async (flags, message) => {
    const { code, stderr } = await run('evaluate', flags)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describeFeeds('the measures of real feeds', () => {
  /** Few, so that it is quick; each kind of measure has one. */
  const ids =
    /^(tor-exits-.*|proxy-(iplocate|monosans|proxmint)|vpn-tunnelbear|vpn-windscribe|asn-.*)\.json$/

  let history = ''
  // The days that other tests have imported too.
  beforeAll(async () => {
    history = await worldHistory()
  })

  // Each run measures all networks: one measures feeds, history and outcomes together.
  it('calibrate writes its report and weights, believes a feed less that lists better ones, and finds the same again', async () => {
    const catalogue = join(folder, 'feeds')
    const out = join(folder, 'report')
    const state = join(folder, 'state')
    mkdirSync(catalogue, { recursive: true })
    for (const name of readdirSync(catalogueFolder).filter((name) => ids.test(name))) {
      copyFileSync(join(catalogueFolder, name), join(catalogue, name))
    }
    const weight = (id: string): number =>
      (JSON.parse(readFileSync(join(catalogue, `${id}.json`), 'utf8')) as { weight: number }).weight
    const before = { tor: weight('tor-exits-onionoo'), proxy: weight('proxy-iplocate') }
    const listed = readFileSync(join(feedsFolder, 'proxy-iplocate/http.txt'), 'utf8')
    const ofFeed = [...new Set(listed.match(/\d+\.\d+\.\d+\.\d+/g))].slice(0, 300)
    const others = ofFeed.map((_, i) => `9.3.${i >> 8}.${i & 255}`)
    const outcomes = [...ofFeed, ...others].map((address, i) => ({
      address,
      outcome: i < ofFeed.length ? ('legitimate' as const) : ('abusive' as const),
      atMs: 0,
      note: '',
    }))
    await appendOutcomes(state, outcomes, { keyId: 'k', receivedMs: Date.now() })
    const input = ['--mirror', feedsFolder, '--history', history, '--feedback', state]
    const flags = [...input, '--catalogue', catalogue, '--out', out, '--apply']
    const first = await run('calibrate', flags)
    expect(first.stderr).toContain('as of 2026-08-22')
    expect(first.code).toBe(0)
    expect(readdirSync(out).sort()).toEqual(['README.md', 'by-hand.json', 'newest.json'])
    const page = readFileSync(join(out, 'README.md'), 'utf8')
    expect(page).toMatch(/^\| tor-exits-onionoo \| own \| .* \| 1 \| an operator’s own list \|$/m)
    expect(page).not.toMatch(/NaN|undefined|Infinity/)
    expect(weight('tor-exits-onionoo')).toBe(before.tor)
    expect(page).toMatch(
      new RegExp(`^\\| proxy-iplocate .*\\| ${weight('proxy-iplocate')} \\|  \\|$`, 'm'),
    )
    const kept = readKept(out) as KeptCalibration
    const row = kept.feeds.find(({ feed }) => feed === 'proxy-iplocate')
    expect(row?.outcomes).toEqual({ addresses: 300, abusive: 0, chance: 0.5 })
    const [, was, now] = /^proxy-iplocate (\S+) -> (\S+)$/m.exec(first.stdout) ?? []
    expect(Number(was)).toBe(before.proxy)
    expect(Number(now)).toBeLessThan(Number(was))
    expect(Number(now)).toBeGreaterThan(0)
    // The weights are in the catalogue now, and nothing else moves.
    const second = await run('calibrate', flags)
    expect([second.code, second.stdout]).toEqual([0, ''])
    expect(readFileSync(join(out, 'README.md'), 'utf8')).toBe(page)
  })

  it('the committed table is of its JSON and has every feed of the catalogue with its weight', () => {
    const folder = fileURLToPath(new URL('../../../docs/calibration', import.meta.url))
    const kept = readKept(folder) as KeptCalibration
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe(calibrationPage(kept))
    for (const { id, kind, weight } of loadCatalogue(catalogueFolder)) {
      // A data set claims nothing of an address.
      if ((kind as string) === 'places' || (kind as string) === 'networks') continue
      expect([id, kept.feeds.find(({ feed }) => feed === id)?.weight]).toEqual([id, weight])
    }
  })
})
