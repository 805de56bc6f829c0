// The committed evaluation: its page is what the command makes of its runs, and the runs show what
// was promised: few false alarms, and no recall lost on the way. The page's own figures on a run
// small enough to count by hand.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type KeptEvaluation,
  evaluationFolder,
  readEvaluations,
  saveEvaluation,
} from '../../../bench/detection/report/kept-evaluation.ts'
import { evaluationReport, reportName } from '../../../bench/detection/report/evaluation-report.ts'
import { runHead } from '../../../bench/harness/run.ts'
import {
  type DetectedShares,
  type LeftOut,
  leftOutKinds,
} from '../../../bench/detection/evaluation/leave-one-out.ts'
import { wilsonShare } from '../../../bench/detection/evaluation/wilson.ts'

describe('the committed evaluation', () => {
  const runs = readEvaluations(evaluationFolder)
  const first = runs[0] as KeptEvaluation
  const last = runs.at(-1) as KeptEvaluation

  it('has the page that its runs give', () => {
    expect(readFileSync(join(evaluationFolder, reportName), 'utf8')).toBe(evaluationReport(runs))
  })

  it('hits at most 0.5 % of the space of access networks with a score of 50', () => {
    for (const { access } of runs) {
      for (const family of [4, 6] as const) {
        expect(access[family].total).toBeGreaterThan(1e9)
        expect(access[family].fromBlock / access[family].total).toBeLessThanOrEqual(0.005)
      }
    }
  })

  it('leaves out every feed of every kind, and finds no less at the end than at first', () => {
    const hits = (
      { leaveOneOut }: KeptEvaluation,
      kind: string,
      what: keyof DetectedShares,
    ): number =>
      leaveOneOut
        .filter((row) => row.kind === kind)
        .reduce((sum, row) => sum + row.entries * row.withoutGroup[what].share, 0)
    expect(last.leaveOneOut.map(({ feed }) => feed)).toEqual(
      first.leaveOneOut.map(({ feed }) => feed),
    )
    for (const kind of leftOutKinds) {
      expect(hits(last, kind, 'signal')).toBeGreaterThanOrEqual(hits(first, kind, 'signal'))
      expect(hits(last, kind, 'flagged')).toBeGreaterThanOrEqual(hits(first, kind, 'flagged'))
    }
    expect(hits(last, 'hosting', 'signal')).toBeGreaterThan(hits(first, 'hosting', 'signal'))
  })
})

describe('a kept run', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'iprisk-kept-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const found = (hits: number, entries: number): DetectedShares => {
    const share = wilsonShare(hits, entries)
    return { signal: share, fromAsk: share, fromBlock: wilsonShare(0, entries), flagged: share }
  }
  const row = (feed: string, entries: number, hits: number): LeftOut => ({
    feed,
    kind: 'vpn',
    entries,
    withAll: found(entries, entries),
    withoutFeed: found(hits, entries),
    withoutGroup: found(hits, entries),
  })
  const run: KeptEvaluation = {
    ...runHead([]),
    name: '1-first',
    title: 'made up',
    access: {
      4: { total: 1_000_000, fromAsk: 50, fromBlock: 1 },
      6: { total: 2000, fromAsk: 0, fromBlock: 0 },
    },
    signals: [{ kind: 'vpn', ipv4: 1234, ipv4InAccess: 5, ipv6_64s: 0 }],
    leaveOneOut: [row('vpn-a', 100, 50), row('vpn-b', 300, 30)],
    recent: undefined,
  }

  it('comes back as it was, to six decimals, in the order of names', () => {
    saveEvaluation(folder, { ...run, name: '2-second' })
    saveEvaluation(folder, run)
    const kept = readEvaluations(folder)
    expect(kept.map(({ name }) => name)).toEqual(['1-first', '2-second'])
    expect(kept[0]?.leaveOneOut[1]?.withoutGroup.signal.share).toBe(0.1)
    expect(kept[0]?.access).toEqual(run.access)
  })

  it('has its feeds together in the page, 80 of 400, and its space', () => {
    const { low, high } = wilsonShare(80, 400)
    const share = `20.0 % (${(100 * low).toFixed(1)} %–${(100 * high).toFixed(1)} %)`
    const page = evaluationReport([run])
    expect(page).toContain(
      `| vpn | 1-first | 400 | ${share} | ${share} | ${share} | ${share} | 0.0 %`,
    )
    expect(page).toContain('| IPv4 addresses | 1-first | 1,000,000 | 0.0050 % | 0.0001 % |')
    expect(page).toContain('| vpn | 1-first | 1,234 | 5 | 0 |')
    expect(page).toContain('No feed has a history.')
    expect(page).not.toMatch(/NaN|undefined/)
  })
})
