// Cuts follow the content: what is put in or taken out changes the parts around it, no others.

import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { nextCut, partBytes } from '../../../src/publish/form/cut-points.ts'

function partsOf(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const cut = nextCut(bytes, at, bytes.length)
    parts.push(bytes.subarray(at, cut))
    at = cut
  }
  return parts
}

const hashOf = (part: Uint8Array): string => createHash('sha256').update(part).digest('hex')

describe('cuts', () => {
  const bytes = randomBytes(8_000_000)
  const parts = partsOf(bytes)

  it('leave no byte out, and keep the parts within their bounds', () => {
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
    for (const part of parts.slice(0, -1)) {
      expect(part.length).toBeGreaterThan(partBytes.min)
      expect(part.length).toBeLessThanOrEqual(partBytes.max)
    }
    const mean = bytes.length / parts.length
    expect(mean).toBeGreaterThan(partBytes.usual / 2)
    expect(mean).toBeLessThan(partBytes.usual * 2)
  })

  it.each([0, 1_234_567, 7_999_999])('find themselves again behind what is put in at %i', (at) => {
    const known = new Set(parts.map(hashOf))
    const other = Buffer.concat([bytes.subarray(0, at), Buffer.from([1, 2, 3]), bytes.subarray(at)])
    const fresh = partsOf(other).filter((part) => !known.has(hashOf(part)))
    expect(fresh.length).toBeGreaterThan(0)
    expect(fresh.length).toBeLessThanOrEqual(3)
  })

  it('are where they have always been, so that parts of an earlier version are found', () => {
    const same = new Uint8Array(65_536)
    let state = 1
    for (let at = 0; at < same.length; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      same[at] = state >>> 24
    }
    const cuts: number[] = []
    for (let at = 0; at < same.length; at = cuts.at(-1)!) {
      cuts.push(nextCut(same, at, same.length, { min: 8, usual: 256, max: 4096 }))
    }
    expect([cuts.length, cuts.reduce((sum, cut) => sum + cut, 0)]).toEqual([218, 6_961_836])
  })

  it('of equal bytes are the longest parts', () => {
    const lengths = partsOf(new Uint8Array(2_000_000)).map(({ length }) => length)
    expect(Math.max(...lengths)).toBe(partBytes.max)
  })
})
