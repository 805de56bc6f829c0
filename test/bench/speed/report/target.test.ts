// Targets, verdicts and the comparison of two sides: pure arithmetic on raw data, on figures that
// are worked out by hand.

import { describe, expect, it } from 'vitest'
import {
  compareRounds,
  decideAgain,
  verdictLine,
} from '../../../../bench/speed/report/comparison.ts'
import {
  growthRatio,
  figureText,
  tableCopies,
  workerMb,
} from '../../../../bench/speed/report/figure.ts'
import { percentiles } from '../../../../bench/speed/report/plot.ts'
import type { BenchRun } from '../../../../bench/speed/report/kept-run.ts'
import { targetTable, targets, targetVerdict } from '../../../../bench/speed/report/target.ts'
import { runHead } from '../../../../bench/harness/run.ts'
import { parseSmaps } from '../../../../bench/harness/smaps.ts'

const empty: BenchRun = {
  name: 'a-run',
  all: { ...runHead([]), kind: 'all', short: false, seconds: {}, skipped: [] },
}

const growthRow = (ranges: number, nsMedian: number, real: boolean) => ({
  ...({
    family: 4,
    ranges,
    real,
    distribution: 'dependent',
    nsMedian,
    rounds: [nsMedian],
  } as const),
  bytes: ranges * 8 + 4_194_308,
  buildMs: ranges / 1000,
})

const grown: BenchRun = {
  ...empty,
  growth: {
    ...runHead([]),
    kind: 'growth',
    table: { id: 'a-table', bytes: 1, pieces: [1000, 1000] },
    rows: [growthRow(4000, 140, false), growthRow(1000, 100, true), growthRow(2000, 120, false)],
  },
}

describe('a target', () => {
  const open = targets.filter(({ reach }) => reach !== undefined)
  const [atMost, atLeast] = [open.find((it) => !it.more)!, open.find((it) => it.more)!]

  it('is reached, met or missed at its bounds, and never by what was not measured', () => {
    expect(targetVerdict(atMost, atMost.reach)).toBe('reached')
    expect(targetVerdict(atMost, atMost.must)).toBe('met')
    expect(targetVerdict(atMost, atMost.must + 0.01)).toBe('MISSED')
    expect(targetVerdict(atLeast, atLeast.reach)).toBe('reached')
    expect(targetVerdict(atLeast, atLeast.must)).toBe('met')
    expect(targetVerdict(atLeast, atLeast.must - 0.01)).toBe('MISSED')
    expect(targetVerdict(atMost, undefined)).toBe('not measured')
    expect(targetVerdict(atMost, Number.NaN)).toBe('not measured')
  })

  it('asks more of what is to be reached for', () => {
    for (const { must, reach = must, more } of targets) {
      expect(more ? reach >= must : reach <= must).toBe(true)
    }
  })

  it('is a floor where it is closed: met or missed, and nothing to reach for', () => {
    const closed = targets.filter(({ reach }) => reach === undefined)
    expect(closed.map(({ must, more }) => `${more ? '≥' : '≤'} ${must}`)).toEqual([
      '≥ 0.75',
      '≥ 0.85',
      '≤ 0.85',
      '≤ 1',
    ])
    for (const target of closed) {
      expect(targetVerdict(target, target.must)).toBe('met')
      expect(targetVerdict(target, target.more ? 0 : 2)).toBe('MISSED')
    }
  })

  it('is a row each, also of a run without anything', () => {
    const table = targetTable(empty)
    expect(table).toHaveLength(targets.length + 2)
    const unknown = '| not measured | not measured |'
    expect(table.slice(2).filter((row) => !row.endsWith(unknown))).toEqual([])
  })
})

describe('figures', () => {
  it('hold the largest table against the real one', () => {
    expect(growthRatio(grown, 4, 'dependent')).toBe(1.4)
    expect(growthRatio(grown, 6, 'dependent')).toBeUndefined()
  })

  it('count one copy of the table, however many share it', () => {
    const mb = 2 ** 20
    const worker = { pid: 2, rss: 0, pss: 0, privateDirty: 30 * mb, tableRss: 80 * mb }
    const primary = { ...worker, privateDirty: 90 * mb, tableRss: 0, tablePss: 0 }
    const run = (tablePss: number): BenchRun => ({
      ...empty,
      memory: {
        ...runHead([]),
        kind: 'memory',
        table: { id: 'a-table', bytes: 1 },
        rows: [
          {
            workers: 2,
            processes: [primary, { ...worker, tablePss }, { ...worker, tablePss }],
          },
        ],
      },
    })
    expect(tableCopies(run(40 * mb))).toBe(1)
    expect(tableCopies(run(80 * mb))).toBe(2)
    // The primary is none of the workers.
    expect(workerMb(run(mb))).toBe(30)
  })

  it('read mappings as the kernel lists them', () => {
    const text = `7f0000000000-7f0000001000 r--s 00000000 fe:00 12  /state/a b.iprisk
Rss:                 100 kB
Pss:                  50 kB
Private_Dirty:        64 kB
55e000000000-55e000001000 rw-p 00000000 00:00 0   [heap]
Rss:                  10 kB
Pss:                  10 kB
Private_Dirty:         8 kB
VmFlags: rd wr
`
    expect(parseSmaps(text, '.iprisk')).toEqual({
      rss: 110 * 1024,
      pss: 60 * 1024,
      privateDirty: 8 * 1024,
      tableRss: 100 * 1024,
      tablePss: 50 * 1024,
    })
  })

  it('show three digits that count', () => {
    expect([1234.5, 12.34, 1.234, 0.1234].map((value) => figureText(value))).toEqual([
      '1,235',
      '12.3',
      '1.23',
      '0.123',
    ])
    expect(figureText(undefined, 'ms')).toBe('not measured')
  })

  it('are percentiles of all rounds together', () => {
    const points = percentiles([{ histogram: [[10, 90]] }, { histogram: [[20, 10]] }])
    expect(points).toEqual([
      { x: 1, y: 10 },
      { x: 10, y: 20 },
    ])
  })
})

describe('two sides', () => {
  const verdictOfRounds = (base: readonly number[], head: readonly number[]) =>
    compareRounds({ base: base.map((ns) => ({ ns })), head: head.map((ns) => ({ ns })) })[0]

  it('differ where every round says so', () => {
    const slower = verdictOfRounds([100, 200, 100], [110, 230, 105])
    expect(slower).toMatchObject({ verdict: 'slower', base: 100, head: 110, ratio: 1.1 })
    expect(verdictOfRounds([100, 100, 100], [90, 80, 95])?.verdict).toBe('faster')
  })

  it('do not differ by little, or where rounds disagree', () => {
    expect(verdictOfRounds([100, 100, 100], [102, 102, 102])?.verdict).toBe('no difference seen')
    expect(verdictOfRounds([100, 100, 100], [120, 120, 99])?.verdict).toBe('no difference seen')
    expect(verdictOfRounds([100, 100], [150, 150])?.verdict).toBe('no difference seen')
    // A neighbour took the core in most rounds of one side, and not in the fastest.
    expect(verdictOfRounds([100, 100, 100], [150, 150, 101])?.verdict).toBe('no difference seen')
    // One in six may.
    const six = verdictOfRounds([100, 100, 100, 100, 100, 110], [120, 120, 120, 120, 120, 109])
    expect(six?.verdict).toBe('slower')
  })

  it('that look slower are decided by the second series alone, and no other row by it', () => {
    const rows = (head: Readonly<Record<string, number>>) => {
      const sample = { a: 100, b: 100, c: 100 }
      return compareRounds({ base: [sample, sample, sample], head: [head, head, head] })
    }
    const first = rows({ a: 120, b: 120, c: 100 })
    const decided = decideAgain(first, rows({ a: 101, b: 110, c: 150 }))
    expect(decided.map(({ verdict, ratio }) => [verdict, ratio])).toEqual([
      ['no difference seen', 1.01],
      ['slower', 1.1],
      ['no difference seen', 1],
    ])
    expect(decideAgain(first, [])).toEqual(first)
  })

  it('are told apart in a sentence', () => {
    const three = <T>(sample: T): readonly T[] => [sample, sample, sample]
    const sides = compareRounds({
      base: three({ a: 1, b: 1, c: 1 }),
      head: three({ a: 2, b: 1, c: 0.5 }),
    })
    expect(verdictLine(sides)).toBe('HEAD is faster in 1 of 3 rows and SLOWER in 1.')
    expect(verdictLine(sides.slice(1, 2))).toBe('No difference seen in any of 1 rows.')
  })
})
