// The screen of `iprisk explain`: one, aligned, in colour on a terminal and the same without; days
// as a strip, sources by name.

import { stripVTControlCharacters } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import type { InsightEvidence } from '../../../src/api/insights-answer.ts'
import { parseDay } from '../../../src/base/day.ts'
import { explanationScreen, evidenceStrip } from '../../../src/cli/lines/explain-command.ts'
import { renderLine } from '../../../src/cli/terminal/io.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { type ExplainedAnswer, answerWithInsights } from '../../../src/table/explain/insights.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const table = openTable(writeSmallTable())
afterAll(() => table.close())

function answerOf(ip: string): ExplainedAnswer {
  return answerWithInsights({ ...table, builtMs: 0 }, ip)!
}

function screenOf(
  answer: ExplainedAnswer,
  { colour, width }: { readonly colour: boolean; readonly width?: number },
): readonly string[] {
  return explanationScreen(answer, table.sources, width).map((line) => renderLine(line, colour))
}

/** What a terminal shows of it. */
function plainOf(lines: readonly string[]): string {
  return stripVTControlCharacters(lines.join('\n'))
}

describe('the screen', () => {
  it.each(['9.1.2.3', '11.1.1.1', '12.0.0.1', '10.0.0.1'])(
    'of %s is one, with colour and without',
    (ip) => {
      const plain = screenOf(answerOf(ip), { colour: false })
      const coloured = screenOf(answerOf(ip), { colour: true })
      expect(plainOf(coloured)).toBe(plain.join('\n'))
      expect(plain.join('')).not.toContain('\u001B')
      expect(coloured[0]).toContain(`\u001B[1m${ip}\u001B[0m`)
      expect(plain.length).toBeLessThan(40)
    },
  )

  it('is painted by the level', () => {
    const first = (ip: string): string => screenOf(answerOf(ip), { colour: true })[0] ?? ''
    expect(answerOf('9.1.2.3').risk_level).toBe('very_high')
    expect(first('9.1.2.3')).toContain('\u001B[31mtor, 81')
    expect(answerOf('12.0.0.1').risk_level).toBe('low')
    expect(first('12.0.0.1')).toContain('\u001B[32m')
  })

  it.each([110, 125])('fits a terminal of %i columns, however many feeds speak', (width) => {
    const answer = answerOf('9.1.2.3')
    const insights = answer.insights
    const [first] = insights.evidence
    const [scope] = insights.neighborhood
    const [listed] = scope!.listed
    const crowded = {
      ...answer,
      insights: {
        ...insights,
        evidence: Array.from({ length: 30 }, () => ({
          ...first!,
          feed: 'a-feed-with-a-name-that-goes-on-and-on-and-on',
        })),
        neighborhood: [{ ...scope!, listed: Array.from({ length: 7 }, () => listed) }],
      },
    } as ExplainedAnswer
    const lines = screenOf(crowded, { colour: false, width })
    expect(lines.length).toBeLessThan(40)
    const rows = lines.filter((line) => /^tor +a-feed|^ +9\.1\.|^ +AS/.test(line))
    expect(rows.length).toBe(9)
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(width)
    expect(rows[0]).toMatch(/^tor +a-feed-with-a-name-that-[^ ]*… /)
    expect(lines.join('\n')).toContain('and 22 more; --json shows all')
  })

  it('has columns below each other, and publishers by name', () => {
    const lines = screenOf(answerOf('9.1.2.3'), { colour: false })
    const head = lines.findIndex((line) => line.includes('matched'))
    const at = lines[head]!.indexOf('matched')
    const rows = lines.slice(head + 1, lines.indexOf('', head))
    expect(rows.length).toBe(2)
    for (const row of rows) expect(row.slice(at)).toMatch(/^9\.1\.2\.3 /)
    expect(rows.join('\n')).toContain('(Example)')
  })
})

describe('a strip of days', () => {
  const asOf = parseDay('2026-08-22')!
  const evidence = answerOf('9.1.2.3').insights.evidence[0]!
  const strip = (first_seen: string, last_seen: string, days_seen: number): string => {
    const one: InsightEvidence = { ...evidence, first_seen, last_seen, days_seen }
    return evidenceStrip(one, asOf)
  }
  it.each([
    ['today alone', '2026-08-22', '2026-08-22', 1, `${'.'.repeat(29)}#`],
    ['the last three days', '2026-08-20', '2026-08-22', 3, `${'.'.repeat(27)}==#`],
    ['with gaps', '2026-08-18', '2026-08-22', 3, `${'.'.repeat(25)}----#`],
    ['some days ago', '2026-08-16', '2026-08-18', 3, `${'.'.repeat(23)}==#....`],
    ['since before', '2026-01-01', '2026-08-22', 200, `${'='.repeat(29)}#`],
    ['long ago', '2026-01-01', '2026-02-01', 30, '.'.repeat(30)],
  ])('%s', (_name, first, last, days, expected) => {
    expect(strip(first, last, days)).toBe(expected)
  })
})
