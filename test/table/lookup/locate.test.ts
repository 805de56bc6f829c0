// 6to4: which verdict an address has of the two that the table knows of it.

import { expect, it } from 'vitest'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { verdictWords } from '../../../src/schema/table-layout.ts'
import { locate, newLocated } from '../../../src/table/lookup/locate.ts'
import { smallContent } from '../small-table.ts'

const { views } = smallContent()
const embedding = '2002:0b01:0102::1'

function verdictOf(text: string, scores: readonly (readonly [verdict: number, score: number])[]) {
  const verdicts = views.verdicts.slice()
  for (const [verdict, score] of scores) {
    const at = verdict * verdictWords
    verdicts[at] = (verdicts[at]! & ~(127 << 4)) | (score << 4)
  }
  const words = new Uint32Array(4)
  const family = parseAddress(text, words)
  const located = newLocated()
  locate({ ...views, verdicts }, family === 4 ? 4 : 6, words, located)
  return located.verdict
}

it.each([
  [24, 25],
  [25, 25],
  [25, 24],
  [99, 100],
  [100, 99],
])('6to4 with %i points of IPv4 and %i of its own has the higher ones', (ipv4, own) => {
  const inner = verdictOf('11.1.1.2', [])
  const outer = verdictOf(embedding, [])
  expect(outer).not.toBe(inner)
  const scores = [[inner, ipv4] as const, [outer, own] as const]
  expect(verdictOf(embedding, scores)).toBe(own > ipv4 ? outer : inner)
})
