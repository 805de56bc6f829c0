// Whether a new table takes the place of the live one: real files, small.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assembleTable } from '../../../build/assemble-table.ts'
import {
  candidatePath,
  judgeTable,
  promoteTable,
  buildRejected,
  rejectedPath,
} from '../../../build/acceptance/promote-table.ts'
import { sampleAddresses, samplePlan } from '../../../build/acceptance/address-sample.ts'
import { type Observation, flattenEvidence } from '../../../build/layer/flatten-evidence.ts'
import { writeTable } from '../../../build/write/write-table.ts'
import { networksSourceId } from '../../../build/evidence/source-list.ts'
import type { Day } from '../../../src/base/day.ts'
import type { Network } from '../../../src/model/network.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { parseRange } from '../../../src/ip/range.ts'
import { smallParts } from '../../table/small-table.ts'

const parts = smallParts()
const space = { networks: parts.networks, layers: parts.networkLayers }

/** A table of the small world's networks that lists just this, and knows some more sources. */
function writeListed(
  path: string,
  listed: readonly (readonly [string, Kind])[],
  moreSources = 0,
): void {
  const { book, lists, sources, ...parts } = smallParts()
  const more = Array.from({ length: moreSources }, (_, at) => ({
    ...sources[0]!,
    id: `more-${at}`,
  }))
  const rest = { ...parts, sources: [...sources, ...more] }
  const observations: Record<4 | 6, Observation[]> = { 4: [], 6: [] }
  for (const [text, kind] of listed) {
    const range = parseRange(text)
    if (range === undefined) throw new Error(text)
    const match = range.first === range.last ? ('exact' as const) : ('range' as const)
    const evidence = book.id({
      source: 0,
      evidence: { ...book.at(1).evidence, kind, match },
      range,
    })
    observations[range.family].push({ first: range.first, last: range.last, evidence })
  }
  const evidenceLayers = {
    4: flattenEvidence(4, observations[4], lists),
    6: flattenEvidence(6, observations[6], lists),
  }
  writeTable(path, assembleTable({ ...rest, book, lists, evidenceLayers }).content)
}

function judge(
  before: readonly (readonly [string, Kind])[] | undefined,
  now: readonly (readonly [string, Kind])[],
  { flipsMaxPercent = 1, force = false } = {},
) {
  const live = join(mkdtempSync(join(tmpdir(), 'iprisk-promote-')), 'world.iprisk')
  const candidate = candidatePath(live)
  if (before !== undefined) writeListed(live, before)
  writeListed(candidate, now)
  const judged = judgeTable({ candidate, live, networks: space, flipsMaxPercent, force })
  const bytes = {
    live: existsSync(live) ? readFileSync(live) : undefined,
    now: readFileSync(candidate),
  }
  promoteTable(judged, { candidate, live })
  return { ...judged, live, bytes, candidate }
}

const usual = [
  ['9.1.2.3', 'tor'],
  ['11.0.0.0/8', 'hosting'],
] as const

describe('a new table', () => {
  it('goes live where little changes', () => {
    const { promoted, sampled, flipped, reasons, live, bytes, candidate } = judge(usual, [
      ...usual,
      ['9.200.0.0/16', 'vpn'],
    ])
    expect({ promoted, reasons }).toEqual({ promoted: true, reasons: [] })
    expect(sampled).toBe(samplePlan.ipv4Access + samplePlan.ipv4Announced + samplePlan.ipv6Access)
    // 65,536 addresses of two /8 of access networks: about one in 512 of those sampled.
    expect(flipped).toBeGreaterThan(0)
    expect(flipped).toBeLessThan(sampled / 100)
    expect(readFileSync(live).equals(bytes.now)).toBe(true)
    expect([existsSync(candidate), existsSync(rejectedPath(live))]).toEqual([false, false])
  })

  it('is rejected where it calls an access network VPN; the live one stays, byte for byte', () => {
    const { promoted, reasons, flips, live, bytes, candidate } = judge(usual, [
      ...usual,
      ['9.128.0.0/9', 'vpn'],
    ])
    expect(promoted).toBe(false)
    expect(reasons).toEqual([
      expect.stringMatching(
        /^\d+ of 20000 sampled verdicts \(\d\d\.\d\d %\) differ .*the limit is 1 %/,
      ),
    ])
    expect(flips).toHaveLength(10)
    expect(flips[0]).toMatch(/^9\.\d+\.\d+\.\d+: clean low, now vpn \w+$/)
    expect(readFileSync(live).equals(bytes.live ?? Buffer.of())).toBe(true)
    expect(readFileSync(rejectedPath(live)).equals(bytes.now)).toBe(true)
    expect(existsSync(candidate)).toBe(false)
  })

  it('is not held to verdicts of addresses that a new edition of the networks moved', () => {
    const live = join(mkdtempSync(join(tmpdir(), 'iprisk-promote-')), 'world.iprisk')
    const candidate = candidatePath(live)
    const write = (path: string, day: number, moved: boolean): void => {
      const { sources, networks, ...rest } = smallParts(usual.map((row) => [...row, '']))
      const edition = { ...sources[0]!, id: networksSourceId, kind: 'network', day: day as Day }
      const [first, ...others] = networks
      const hosting = { ...first!, type: 'hosting', access: false } as const
      const own = moved ? [hosting, ...others] : networks
      const judged = own.map((network) => ({ ...network, asn: network.asn + (moved ? 1000 : 0) }))
      const all = { ...rest, networks: judged, sources: [...sources, edition] }
      const statementsOfAs = (network: Network): readonly number[] =>
        moved && network.asn === first!.asn + 1000
          ? [rest.book.count]
          : rest.statementsOfAs(network)
      writeTable(path, assembleTable({ ...all, statementsOfAs }).content)
    }
    const judgeAs = (days: readonly [number, number]) => {
      write(live, days[0], false)
      write(candidate, days[1], true)
      return judgeTable({ candidate, live, networks: space, flipsMaxPercent: 1, force: false })
    }
    const same = judgeAs([20_000, 20_000])
    expect(same.reasons).toEqual([expect.stringMatching(/sampled verdicts/)])
    expect([same.promoted, same.moved]).toEqual([false, undefined])
    const found = judgeAs([20_000, 20_009])
    expect(found).toMatchObject({ promoted: true, flipped: 0, reasons: [] })
    expect(found.moved).toBeGreaterThan(200)
  })

  it('goes live by force, and says what spoke against it', () => {
    const bad = [['9.128.0.0/9', 'vpn']] as const
    const first = judge(usual, bad, { force: true })
    expect(first).toMatchObject({ promoted: true, forced: true, reasons: [expect.anything()] })
    expect(readFileSync(first.live).equals(first.bytes.now)).toBe(true)
    const allowed = judge(usual, bad, { flipsMaxPercent: 60 })
    expect(allowed).toMatchObject({ promoted: true, forced: false, reasons: [] })
    const needless = judge(usual, usual, { force: true })
    expect(needless).toMatchObject({ promoted: true, forced: false, reasons: [], flips: [] })
  })

  const canaries = [
    [
      '8.8.8.8',
      'vpn',
      /the canary 8\.8\.8\.8 \(Google Public DNS, public resolver\) is called vpn/,
    ],
    ['1.1.1.0/24', 'proxy', /the canary 1\.1\.1\.1 .* is called proxy/],
    ['2620:fe::fe', 'tor', /the canary 2620:fe::fe \(Quad9, .* is called tor/],
    ['198.41.0.4', 'proxy', /a\.root-servers\.net .* is called proxy/],
    ['66.249.66.0/24', 'vpn', /Googlebot, search engine's published range\) is called vpn/],
  ] as const

  it.each(canaries)(
    'that misjudges the canary %s as %s is rejected, the first one too',
    (text, kind, why) => {
      for (const before of [usual, undefined]) {
        const { promoted, reasons, live } = judge(before, [...usual, [text, kind]])
        expect(promoted).toBe(false)
        expect(reasons.join('\n')).toMatch(why)
        expect(existsSync(live)).toBe(before !== undefined)
      }
    },
  )

  it('that is the first one has only the canaries to answer for', () => {
    const judged = judge(undefined, [['9.128.0.0/9', 'vpn']])
    expect(judged).toMatchObject({ promoted: true, sampled: 0, reasons: [] })
  })

  it('is not measured by one that knows less than half of its sources', () => {
    const own = parts.sources.length
    for (const [more, sampled] of [
      [own, 20_000],
      [own + 1, 0],
    ] as const) {
      const live = join(mkdtempSync(join(tmpdir(), 'iprisk-promote-')), 'world.iprisk')
      const candidate = candidatePath(live)
      writeListed(live, usual)
      writeListed(candidate, [...usual, ['9.128.0.0/9', 'vpn']], more)
      const how = { networks: space, flipsMaxPercent: 1, force: false }
      const judged = judgeTable({ candidate, live, ...how })
      expect(judged).toMatchObject({ sampled, promoted: sampled === 0 })
      const all = own + more
      const why = `the live table knows ${own} of the ${all} sources of the new one`
      expect(judged.not_compared).toBe(sampled === 0 ? why : undefined)
    }
  })

  it('takes the place of a file that is no table, and says that it was not compared', () => {
    const live = join(mkdtempSync(join(tmpdir(), 'iprisk-promote-')), 'world.iprisk')
    writeFileSync(live, 'no table')
    const candidate = candidatePath(live)
    writeListed(candidate, usual)
    const judged = judgeTable({
      candidate,
      live,
      networks: space,
      flipsMaxPercent: 1,
      force: false,
    })
    expect(judged).toMatchObject({ promoted: true, sampled: 0 })
    expect(judged.not_compared).toMatch(/^the live table cannot be read: .*world\.iprisk/)
  })

  it('that goes live removes the one that was rejected before it', () => {
    const { live } = judge(usual, [['9.128.0.0/9', 'vpn']])
    expect(existsSync(rejectedPath(live))).toBe(true)
    writeListed(candidatePath(live), usual)
    promoteTable({ promoted: true }, { candidate: candidatePath(live), live })
    expect(existsSync(rejectedPath(live))).toBe(false)
  })

  it('tells the operator what to do', () => {
    const reasons = ['one', 'two', 'three', 'four', 'five', 'six']
    const error = buildRejected({ reasons }, { out: '/nowhere/t', report: '/nowhere/report.json' })
    expect(error.code).toBe('build_rejected')
    expect(error.message).toMatch(
      /one; .*five, and 1 more\. No table is live; .*t\.rejected.*--force/,
    )
    const out = join(mkdtempSync(join(tmpdir(), 'iprisk-promote-')), 'world.iprisk')
    writeFileSync(out, '')
    const { message } = buildRejected({ reasons: ['one'] }, { out, report: '/nowhere/r' })
    expect(message).toContain(`The table at ${out} is unchanged; the new one is ${out}.rejected`)
  })
})

describe('the sample', () => {
  const sample = sampleAddresses(space)

  it('is the same each time, and of the networks that were asked for', () => {
    expect(sampleAddresses(space)).toEqual(sample)
    const [access, rest] = [sample.slice(0, 14_000), sample.slice(14_000)]
    expect(access.every((text) => text.startsWith('9.') || text.startsWith('12.'))).toBe(true)
    expect(rest.slice(4000).every((text) => /^2a0[02]:/.test(text))).toBe(true)
    const hosted = rest.slice(0, 4000).filter((text) => text.startsWith('11.')).length
    expect(hosted).toBeGreaterThan(1200)
    expect(hosted).toBeLessThan(1470)
  })

  it('weighs networks by their addresses', () => {
    const inTen = sample.slice(0, 14_000).filter((text) => text.startsWith('12.')).length
    expect(Math.abs(inTen - 7000)).toBeLessThan(250)
    expect(new Set(sample).size).toBeGreaterThan(19_900)
  })
})
