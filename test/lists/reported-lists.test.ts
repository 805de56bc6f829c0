// What outcomes change in the lists that they fill: who enters which, for how long, and the caps.

import { describe, expect, it } from 'vitest'
import { keyOfAs, type ListEntry } from '../../src/lists/list-entry.ts'
import { type Reported, reportedChanges } from '../../src/lists/reported-lists.ts'

const nowSeconds = Date.UTC(2026, 7, 22, 12) / 1000
const now = nowSeconds * 1000 + 400
const daySeconds = 86_400
const key = keyOfAs
const by = (keyId: string, list: Reported['list'] = 'reported'): Reported => ({
  list,
  keyId,
  abusive: 5,
  sinceMs: now - 3_600_000,
})
const entry = (i: number, more: Partial<ListEntry> = {}): ListEntry => ({
  key: key(i),
  added: nowSeconds - 2 * daySeconds,
  expires: nowSeconds + 5 * daySeconds,
  note: '5 abusive outcomes since 2026-08-20T12:00:00Z, the last by key k1',
  ...more,
})
const changes = (
  outcomes: readonly (readonly [number, Reported | undefined])[],
  reported: readonly ListEntry[] = [],
  shared: readonly ListEntry[] = [],
) => {
  const known = [
    ...reported.map((one) => ({ ...one, list: 'reported' as const })),
    ...shared.map((one) => ({ ...one, list: 'reported-shared' as const })),
  ]
  const became = new Map(outcomes.map(([i, of]) => [key(i), of]))
  return reportedChanges(new Map(known.map((one) => [one.key, one])), became, now)
}
const many = (count: number, from: number, keyId: string) =>
  Array.from({ length: count }, (_, i) => [from + i, by(keyId)] as const)

describe('reported addresses', () => {
  it('enter their list for seven days, with why, and leave the one that they are in', () => {
    const { put, remove, counts } = changes(
      [
        [1, by('k1')],
        [2, by('k2', 'reported-shared')],
        [3, undefined],
        [4, undefined],
      ],
      [],
      [entry(3)],
    )
    const note = '5 abusive outcomes since 2026-08-22T11:00:00Z, the last by key'
    const times = { added: nowSeconds, expires: nowSeconds + 7 * daySeconds }
    expect(put).toEqual([
      { list: 'reported', key: key(1), ...times, note: `${note} k1` },
      { list: 'reported-shared', key: key(2), ...times, note: `${note} k2` },
    ])
    expect(remove).toEqual([{ ...entry(3), list: 'reported-shared' }])
    expect(counts).toMatchObject({ entered: 2, left: 1 })
  })

  it.each([
    ['renewed less than a day ago', { expires: nowSeconds + 6 * daySeconds + 1 }, undefined],
    ['renewed a day ago', { expires: nowSeconds + 6 * daySeconds }, nowSeconds + 7 * daySeconds],
    ["a person's, for ever", { expires: 0, note: 'the test line' }, undefined],
    ["a person's, for some days", { note: 'the test line' }, undefined],
  ])('stay where they are: %s', (_, known, expires) => {
    const { put, remove, counts } = changes([[1, by('k2')]], [entry(1, known)])
    const { added } = entry(1)
    expect(put.map((one) => [one.list, one.added, one.expires])).toEqual(
      expires === undefined ? [] : [['reported', added, expires]],
    )
    expect([remove, counts.entered]).toEqual([[], 0])
  })

  it('move where the table has learned that the network is shared, or is not', () => {
    const outcomes = [
      [1, by('k2', 'reported-shared')],
      [2, by('k2')],
      [3, by('k2', 'reported-shared')],
    ] as const
    const own = entry(3, { note: 'the test line' })
    const { put, remove, counts } = changes(outcomes, [entry(1), own], [entry(2)])
    const { added } = entry(1)
    expect(put.map((one) => [one.list, one.key, one.added])).toEqual([
      ['reported-shared', key(1), added],
      ['reported', key(2), added],
    ])
    expect(remove.map((one) => [one.list, one.key])).toEqual([
      ['reported', key(1)],
      ['reported-shared', key(2)],
    ])
    expect(counts).toMatchObject({ entered: 0, left: 0 })
  })

  it('are at most a thousand new ones of a key within an hour, in both lists', () => {
    const ago = (seconds: number, count: number, from: number) =>
      Array.from({ length: count }, (_, i) => entry(from + i, { added: nowSeconds - seconds }))
    const known = [ago(3599, 600, 1), ago(60, 300, 2000), ago(3600, 500, 4000)] as const
    const asked = [...many(101, 10_000, 'k1'), ...many(5, 20_000, 'k2')]
    const { counts } = changes(asked, [...known[0], ...known[2]], known[1])
    expect(counts).toMatchObject({ entered: 105, over_key: 1, full: 0 })
  })

  it('are at most 100,000, whoever reports; who leaves makes room', () => {
    const known = Array.from({ length: 99_999 }, (_, i) => entry(i))
    const asked = [...many(2, 200_000, 'k2'), [5, undefined] as const, ...many(2, 300_000, 'k3')]
    const { put, counts } = changes(asked, known.slice(0, 50_000), known.slice(50_000))
    expect(put.map((one) => one.key)).toEqual([key(200_000), key(300_000)])
    expect(counts).toMatchObject({ entered: 2, left: 1, full: 2 })
  })
})
