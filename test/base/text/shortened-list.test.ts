// Long lists in messages: what is left out is counted.

import { describe, expect, it } from 'vitest'
import { fewLines, joinFew, moreText } from '../../../src/base/text/shortened-list.ts'
import { formatCount } from '../../../src/base/text/number-format.ts'

describe('moreText', () => {
  it('is empty where nothing is left, and writes the number as it is told to', () => {
    expect([-1, 0, 2, 1234].map((left) => moreText(left))).toEqual([
      '',
      '',
      'and 2 more',
      'and 1234 more',
    ])
    expect(moreText(1234, formatCount)).toBe('and 1,234 more')
  })
})

describe('joinFew', () => {
  it.each([
    [[], ''],
    [['a', 'b'], 'a, b'],
    [['a', 'b', 'c'], 'a, b and 1 more'],
  ])('of %j says %j', (texts, text) => {
    expect(joinFew(texts, 2)).toBe(text)
  })

  it('takes what stands between, and before the number', () => {
    expect(joinFew(['a', 'b', 'c'], 2, { between: '; ', last: ', ' })).toBe('a; b, and 1 more')
  })
})

it('joinFew counts those that it was not given', () => {
  expect(joinFew(['a', 'b'], 2, { total: 100 })).toBe('a, b and 98 more')
  expect(joinFew(['a', 'b'], 2, { total: 2 })).toBe('a, b')
})

describe('fewLines', () => {
  it('counts the lines that are left out in one of its own', () => {
    expect(fewLines(['a', 'b'], 2)).toEqual(['a', 'b'])
    expect(fewLines(['a', 'b', 'c'], 2)).toEqual(['a', 'b', '  and 1 more'])
    expect(fewLines(['a', 'b', 'c'], 1, '… ')).toEqual(['a', '… and 2 more'])
  })
})
