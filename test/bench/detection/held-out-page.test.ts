// The committed page of what is said of operators left out: it shows what was promised of it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { evaluationFolder } from '../../../bench/detection/report/kept-evaluation.ts'
import { heldOutName } from '../../../bench/detection/report/held-out-text.ts'

const lines = readFileSync(join(evaluationFolder, heldOutName), 'utf8').split('\n')

/** The rows below a line, up to the next empty one; cells are two spaces apart. */
function rowsBelow(start: string): readonly (readonly string[])[] {
  const at = lines.findIndex((line) => line.startsWith(start))
  const rows = lines.slice(at + 2, lines.indexOf('', at))
  return rows.map((row) => row.trim().split(/\s{2,}/))
}

const numberIn = (cell = ''): number => Number.parseFloat(cell.replaceAll(',', ''))

describe('the committed page of operators left out', () => {
  it('has false alarms on at most 0.01 % of people’s lines', () => {
    const rows = rowsBelow('false alarms')
    expect(rows.map(([what]) => what)).toEqual(['IPv4 addresses', 'IPv6 /64s'])
    for (const [, , , fromBlock] of rows) expect(numberIn(fromBlock)).toBeLessThanOrEqual(0.01)
  })

  it('has badness rise from level to level', () => {
    const badness = rowsBelow('badness by level').map(([, , , share]) => numberIn(share))
    expect(badness).toHaveLength(4)
    expect(badness).toEqual(badness.toSorted((a, b) => a - b))
  })

  it('finds of operators that no list names what it is to find', () => {
    const rows = rowsBelow('leave one VPN operator out')
    const mean = rows.find(([name]) => name === 'mean of operators')
    // Each operator counts the same; the pooled share is that of the largest list.
    expect(numberIn(mean?.[1])).toBeGreaterThanOrEqual(35)
    expect(numberIn(mean?.[2])).toBeGreaterThanOrEqual(80)
  })

  it('has no network of the type hosting without points', () => {
    expect(lines).toContainEqual(expect.stringMatching(/^type hosting, no points +0$/))
  })
})
