// What answers say of what their table does not know: nothing where it covers every kind; the
// writer's bytes and the object say the same; bogons say nothing; age comes with the clock.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkAnswer } from '../../../src/api/check-answer.ts'
import { type KindCoverage, coveredKinds } from '../../../src/model/coverage.ts'
import {
  coverageOf,
  coverageReportOf,
  coverageToday,
} from '../../../src/table/answer/table-coverage.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import {
  asOf,
  asOfMs,
  fullCoverage,
  listed,
  smallContent,
  writeSmallTable,
} from '../small-table.ts'
import { differenceOf } from './answer-twin.ts'
import { encodedTable } from '../encoded-table.ts'

const dayMs = 86_400_000
const texts = [
  '9.1.2.3',
  '2a01:4f8:0::1',
  '203.1.2.3',
  '::ffff:9.1.2.3',
  '2002:b01:102::1',
  '10.0.0.1',
]

/** `tor` partly, `vpn` and `bot` missing. */
const gaps = fullCoverage.map((one): KindCoverage => {
  if (one.kind === 'tor') return { ...one, state: 'partly' }
  const isMissing = one.kind === 'vpn' || one.kind === 'bot'
  return isMissing ? { ...one, state: 'missing', newest: undefined, addresses: 0 } : one
})
const complete = writeSmallTable()
const gapped = writeSmallTable(gaps)

describe('answers', () => {
  it.each([0, 7])('of a complete table of %i days say nothing', (days) => {
    const table = openTable(complete, { now: () => asOfMs + days * dayMs })
    for (const text of texts) {
      expect(table.check(text)).not.toHaveProperty('coverage')
      expect(differenceOf(table, text)).toBeUndefined()
    }
    table.close()
  })

  it('of a table with gaps name them, at their end, and keep to their schema', () => {
    const table = openTable(gapped, { now: () => asOfMs })
    for (const text of texts.slice(0, -1)) {
      const answer = table.check(text)
      expect(answer?.coverage).toEqual({ missing: ['vpn', 'bot'], partly: ['tor'] })
      expect(Object.keys(answer ?? {}).at(-1)).toBe('coverage')
      expect(checkAnswer.strict().parse(answer)).toEqual(answer)
      expect(differenceOf(table, text)).toBeUndefined()
    }
    table.close()
  })

  it('say nothing of a bogon, which no feed decides', () => {
    const table = openTable(gapped, { now: () => asOfMs + 90 * dayMs })
    for (const text of ['10.0.0.1', '64:ff9b::10.0.0.1', 'fe80::1']) {
      expect(table.check(text)).not.toHaveProperty('coverage')
      expect(differenceOf(table, text)).toBeUndefined()
    }
    table.close()
  })

  it('with insights say it, too', () => {
    const table = openTable(gapped, { now: () => asOfMs })
    const answer = answerWithInsights({ ...table, builtMs: 0 }, '9.1.2.3')
    expect(answer?.coverage?.missing).toEqual(['vpn', 'bot'])
    table.close()
  })
})

describe('the age', () => {
  it('is told from the eighth day on, of a complete table, too', () => {
    const at = (days: number) => coverageOf({ coverage: fullCoverage, asOf }, asOfMs + days * dayMs)
    expect(at(7.99)).toBeUndefined()
    expect(at(8)).toEqual({ missing: [], partly: [], age_days: 8 })
    expect(coverageOf({ coverage: gaps, asOf }, asOfMs + 9.5 * dayMs)?.age_days).toBe(9)
    expect(coverageOf({ coverage: gaps, asOf }, 0)).not.toHaveProperty('age_days')
  })

  describe('of an open table', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    it('comes and grows while it is open, within a minute, in object and bytes', () => {
      vi.setSystemTime(asOfMs + 8 * dayMs - 1)
      const table = openTable(complete)
      const says = (): unknown => {
        expect(differenceOf(table, '9.1.2.3')).toBeUndefined()
        return table.check('9.1.2.3')?.coverage
      }
      expect(says()).toBeUndefined()
      vi.advanceTimersByTime(60_000)
      expect(says()).toEqual({ missing: [], partly: [], age_days: 8 })
      vi.advanceTimersByTime(dayMs)
      expect(says()).toEqual({ missing: [], partly: [], age_days: 9 })
      table.close()
      expect(vi.getTimerCount()).toBe(0)
    })
  })
})

describe('the report', () => {
  it('has every kind with its newest day, whatever is covered', () => {
    const report = coverageReportOf({ coverage: gaps, asOf }, asOfMs + 3 * dayMs)
    expect(report).toMatchObject({ missing: ['vpn', 'bot'], partly: ['tor'], age_days: 3 })
    expect(report.kinds.map(({ kind }) => kind)).toEqual(coveredKinds)
    const vpn = { kind: 'vpn', state: 'missing', newest: null, addresses: 0 }
    expect(report.kinds[1]).toEqual(vpn)
    expect(report.kinds[0]).toMatchObject({ newest: '2026-08-22', addresses: 1000 })
  })
})

describe('the coverage of today', () => {
  it('counts each kind’s newest feed to the clock, not to the day of the table', () => {
    const missing = (days: number) => {
      const nowMs = asOfMs + days * dayMs
      return coverageReportOf(coverageToday({ coverage: gaps, asOf }, nowMs), nowMs).missing
    }
    expect(missing(-5)).toEqual(['vpn', 'bot'])
    expect(missing(2.99)).toEqual(['vpn', 'bot'])
    expect(missing(3)).toEqual(['tor', 'vpn', 'bot'])
    expect(missing(7)).toEqual(['tor', 'vpn', 'proxy', 'residential_proxy', 'bot'])
    expect(missing(45)).toEqual(coveredKinds)
    // Answers keep to the day of the table.
    expect(coverageOf({ coverage: gaps, asOf }, asOfMs + 96 * dayMs)?.missing).toEqual([
      'vpn',
      'bot',
    ])
  })
})

describe('the file', () => {
  it('keeps it, and its id depends on it', () => {
    const [whole, parts] = [smallContent(), smallContent(listed, gaps)].map(encodedTable)
    expect(readTableView(parts!.bytes, 'gaps').coverage).toEqual(gaps)
    expect(parts!.id).not.toBe(whole!.id)
  })

  it('that does not say covers nothing', () => {
    const { bytes } = encodedTable(smallContent(listed, []))
    const { coverage } = readTableView(bytes, 'silent')
    expect(new Set(coverage.map(({ state }) => state))).toEqual(new Set(['missing']))
    expect(coverage.map(({ kind }) => kind)).toEqual(coveredKinds)
  })
})
