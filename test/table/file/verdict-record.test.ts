import { expect, it } from 'vitest'
import { packReason, readReasons } from '../../../src/table/file/verdict-record.ts'

const codes = ['', 'tor_exit_listed', 'others_limited', 'cdn_edge']
const texts = { text: (id: number): string => codes[id] ?? '' }
const idOf = (code: string): number => codes.indexOf(code)

it('gives back any points of a reason, and the reasons beside it as they were', () => {
  for (let points = -400; points <= 200; points++) {
    const reasons = [
      { code: 'tor_exit_listed', points: 85 },
      { code: 'others_limited', points },
      { code: 'cdn_edge', points: 0 },
    ]
    const words = Uint32Array.from(reasons.flatMap((reason) => packReason(reason, idOf)))
    const views = { reason_lists: Uint32Array.of(0, words.length), reasons: words }
    expect(readReasons(views, 0, texts)).toEqual(reasons)
  }
})

it('takes one word where one is enough', () => {
  expect(packReason({ code: 'others_limited', points: -128 }, idOf)).toHaveLength(1)
  expect(packReason({ code: 'cdn_edge', points: 0 }, idOf)).toEqual([(3 << 8) | 128])
})
