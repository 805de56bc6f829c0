// The meta answer: thresholds and ages.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { metaOf } from '../../../src/http/endpoint/meta-endpoint.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { writeSmallTable } from '../../table/small-table.ts'

let table: OpenTable

beforeAll(() => {
  table = openTable(writeSmallTable())
})

afterAll(() => table.close())

describe('meta', () => {
  it('has thresholds that cover 0 to 100 without a gap', () => {
    const key = { id: '', plan: '', apis: [], insights: '', limits: { rate: null, quota: null } }
    const { thresholds } = metaOf(table, key, 0)
    const covered = thresholds.flatMap(({ risk_score_min: from, risk_score_max: to }) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i),
    )
    expect(covered.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 101 }, (_, i) => i))
  })

  it('has no age below 0, where the clock lags behind a feed', () => {
    const key = { id: '', plan: '', apis: [], insights: '', limits: { rate: null, quota: null } }
    const answer = metaOf(table, key, 0)
    expect(answer.table.age_seconds).toBe(0)
    expect(answer.feeds.map((feed) => feed.age_seconds)).toEqual([0, 0])
    const day = 20_000
    const later = metaOf(table, key, (table.asOf + day) * 86_400_000)
    expect(later.table.age_seconds).toBe(day * 86_400)
  })
})
