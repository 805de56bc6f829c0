// The report for people is one screen, whatever went wrong; the report file has the rest.

import { expect, it } from 'vitest'
import type { BuildReport, DataSetReport, FeedReport } from '../../build/build-report.ts'
import { buildSummary } from '../../build/build-summary.ts'
import { kinds } from '../../src/model/kind.ts'

function feed(id: string, more: Partial<FeedReport> = {}): FeedReport {
  return {
    id,
    kind: 'tor',
    day: undefined,
    clamped: undefined,
    state: 'fresh',
    entries: 10,
    kept: 8,
    dropped: { bogon: 2 },
    unique: 8,
    lapsed: 0,
    alone_ipv4: 1,
    first_bad: ['a:1: bogon: 10.0.0.1'],
    problem: undefined,
    trouble: undefined,
    quarantined: undefined,
    ...more,
  }
}

const sound = { problem: undefined, quarantined: undefined }
const places = {
  id: 'places-dbip-city',
  kind: 'places',
  day: '2026-06-05',
  state: 'embedded',
  ...sound,
}
const networks = {
  id: 'networks-asn',
  kind: 'networks',
  day: '2026-07-02',
  state: 'fetched',
  ...sound,
}

function report(feeds: FeedReport[], dataSets: DataSetReport[] = [networks, places]): BuildReport {
  const covered = { ipv4: 1_234_567, ipv6_64s: 1 }
  return {
    table: {
      path: '/t/world.iprisk',
      id: 'abcdef',
      as_of: '2026-08-22',
      bytes: 12_300_000,
      ipv4_boundaries: 4000,
      ipv6_boundaries: 3000,
      networks: 1,
      locations: 1,
      verdicts: 1,
    },
    fetch: { asked: 1, answered: 1, cut_short: null },
    feeds,
    kinds: Object.fromEntries(kinds.map((kind) => [kind, covered])) as BuildReport['kinds'],
    verdicts: {},
    coverage: [],
    data_sets: dataSets,
    promotion: {
      promoted: true,
      forced: false,
      reasons: [],
      not_compared: undefined,
      sampled: 0,
      flipped: 0,
      moved: undefined,
      flips: [],
    },
    networks: { bad_rows: 0, first_bad: [] },
    stages: [],
    seconds: 20,
    peak_bytes: 2e9,
  }
}

it('fits a screen with every feed missing or quarantined', () => {
  const quarantined = { reasons: ['it shrank '.repeat(40)], instead: 'the last good one' }
  const feeds = Array.from({ length: 60 }, (_, i) => feed(`feed-${i}`, { state: 'missing' }))
  const kept = Array.from({ length: 20 }, (_, i) => feed(`kept-${i}`, { quarantined }))
  const problem = 'status 403 '.repeat(40)
  const sets = [networks, places].map((set) => ({ ...set, problem, quarantined }))
  const lines = buildSummary(report([...feeds, ...kept], sets), '/t/report.json')
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 100)), 0)
  expect(rows).toBeLessThanOrEqual(30)
  expect(lines.filter((line) => line.startsWith('kept out'))).toHaveLength(5)
})

it('has totals, what is missing, what was kept out, and where all of it is', () => {
  const quarantined = { reasons: ['it shrank'], instead: 'that of 2026-08-21' }
  const feeds = [feed('a'), feed('b', { state: 'missing', entries: 0, kept: 0, dropped: {} })]
  const lines = buildSummary(report([...feeds, feed('c', { quarantined })]), '/t/report.json')
  expect(lines.slice(10)).toEqual([
    'entries   16 taken, 4 not',
    'feeds     2 fresh, 1 missing',
    'missing   b (`iprisk feeds list` shows why)',
    'networks  of 2026-07-02, fetched',
    'places    of 2026-06-05, embedded',
    'kept out  c: it shrank (that of 2026-08-21 is used)',
    'table     abcdef as of 2026-08-22, 12.3 MB, 4,000 IPv4 and 3,000 IPv6 boundaries',
    'built in  20.0 s with 2000.0 MB at peak',
    'written   /t/world.iprisk',
    'report    /t/report.json: every feed, stage and reason',
  ])
})

it('does not call missing what its last good snapshot stands in for', () => {
  const quarantined = { reasons: ['status 404'], instead: 'its snapshot of 2026-08-21' }
  const feeds = [feed('a', { state: 'missing', quarantined }), feed('b', { state: 'missing' })]
  const lines = buildSummary(report(feeds), '/t/report.json')
  expect(lines.slice(11)).toEqual(
    expect.arrayContaining([
      'missing   b (`iprisk feeds list` shows why)',
      'kept out  a: status 404 (its snapshot of 2026-08-21 is used)',
    ]),
  )
})

it('says of networks and places why nothing newer was had, or what was refused', () => {
  const quarantined = { reasons: ['it shrank'], instead: 'the embedded edition of 2026-06-05' }
  const sets = [
    { ...networks, state: 'stored', problem: 'status 403' },
    { ...places, quarantined },
  ]
  const lines = buildSummary(report([feed('a')], sets), '/t/report.json')
  expect(lines.slice(12, 15)).toEqual([
    'networks  of 2026-07-02, stored: status 403',
    'places    of 2026-06-05, embedded',
    'kept out  places-dbip-city: it shrank (the embedded edition of 2026-06-05 is used)',
  ])
})
