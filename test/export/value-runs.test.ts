// The walk over a table, held to the lookup: each range that comes out has, at its ends, the value
// of what `locate` finds there, and the ranges are all that there is, in order, without equal
// neighbours.

import { describe, expect, it } from 'vitest'
import { answering } from '../../src/export/piece-walk.ts'
import { walkRuns } from '../../src/export/value-runs.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { type Family, newAddressWords } from '../../src/ip/address.ts'
import { wordsToBigint, maxAddress } from '../../src/ip/range.ts'
import { locate, newLocated } from '../../src/table/lookup/locate.ts'
import { isLeftOut, smallTable } from './small-export.ts'

interface Run {
  readonly family: Family
  readonly first: Uint32Array
  readonly last: Uint32Array
  readonly value: number
}

/** Records and bogons as numbers from 1; nothing of what is left out. */
function runs(): readonly Run[] {
  const found: Run[] = []
  const valueOf = (is: number): number => (is === answering.leftOut ? -1 : is + 1)
  walkRuns(smallTable.reader.views, valueOf, {
    run: (first, last, value, family) =>
      void found.push({ first: first.slice(), last: last.slice(), value, family }),
  })
  return found
}

const own = ({ family }: Run, words: Uint32Array): Uint32Array =>
  family === 4 ? words.slice(3) : words

describe('the ranges of a table', () => {
  const all = runs()

  it('say at their ends what the lookup finds there', () => {
    expect(all.length).toBeGreaterThan(60)
    const words = newAddressWords()
    const located = newLocated()
    for (const run of all) {
      for (const end of [run.first, run.last]) {
        words.set(own(run, end))
        locate(smallTable.reader.views, run.family, words, located)
        const place = formatAddress(run.family, words)
        expect([place, located.bogon ? 0 : located.record + 1]).toEqual([place, run.value])
      }
    }
  })

  it('are disjoint, in order, and leave out nothing but addresses that carry IPv4', () => {
    for (const family of [4, 6] as const) {
      let next = 0n
      let before = -1
      for (const run of all.filter((one) => one.family === family)) {
        const first = wordsToBigint(6, run.first)
        const last = wordsToBigint(6, run.last)
        expect(first <= last).toBe(true)
        const isSound =
          first === next
            ? run.value !== before
            : family === 6 && isLeftOut(formatAddress(6, wordsOf(next)))
        expect([next, isSound]).toEqual([next, true])
        next = last + 1n
        before = run.value
      }
      expect(next).toBe(maxAddress(family) + 1n)
    }
  })
})

function wordsOf(value: bigint): Uint32Array {
  return Uint32Array.from([96n, 64n, 32n, 0n], (shift) => Number((value >> shift) & 0xffff_ffffn))
}
