// What the tests of the history share: a store in a folder of its own, random listings over a small
// space where ranges meet, and ranges from text.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { ListedRange } from '../../../build/history/day-content.ts'
import { type HistoryStore, openHistoryStore } from '../../../build/history/history-store.ts'
import { type Day, parseDay } from '../../../src/base/day.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { type Range, maxAddress, parseRange, prefixRange } from '../../../src/ip/range.ts'

/** The catalogue. */
export const feeds = loadCatalogue(join(packageRoot, 'data', 'feeds'))

/** A feed of the catalogue. */
export function feedOf(id: string): Feed {
  const found = feeds.find((feed) => feed.id === id)
  if (found === undefined) throw new Error(`no feed ${id}`)
  return found
}

/** A fresh folder for each test. */
export function useFolder(): () => string {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'iprisk-history-test-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })
  return () => folder
}

export async function withStore<T>(
  store: string,
  work: (store: HistoryStore) => Promise<T>,
): Promise<T> {
  const opened = await openHistoryStore({ store })
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

export const day = (text: string): Day => {
  const parsed = parseDay(text)
  if (parsed === undefined) throw new Error(`${text} is no day`)
  return parsed
}

export const today = day('2026-08-22')

export const range = (text: string): Range => {
  const parsed = parseRange(text)
  if (parsed === undefined) throw new Error(`${text} is no range`)
  return parsed
}

export const listed = (...texts: readonly string[]): ListedRange[] =>
  texts.map((text) => ({ range: range(text) }))

/** Any range at all, the ends of the space and of its halves included. */
export const anyRange: fc.Arbitrary<Range> = fc
  .constantFrom(4 as const, 6 as const)
  .chain((family) => {
    const limit = maxAddress(family)
    const edges = [
      0n,
      1n,
      limit,
      limit - 1n,
      limit >> 1n,
      (limit >> 1n) + 1n,
      (1n << 64n) - 1n,
      1n << 64n,
    ]
    const value = fc.oneof(
      fc.bigInt({ min: 0n, max: limit }),
      fc.constantFrom(...edges.filter((edge) => edge <= limit)),
    )
    return fc
      .tuple(value, value)
      .map(([a, b]) => (a < b ? { family, first: a, last: b } : { family, first: b, last: a }))
  })

/** Prefixes of few bits in one small place of each family, so that they repeat and nest. */
export const nearPrefix: fc.Arbitrary<Range> = fc
  .tuple(fc.constantFrom(4 as const, 6 as const), fc.nat(255), fc.nat(5))
  .map(([family, low, hostBits]) =>
    family === 4
      ? prefixRange(4, 0x2d000000n + BigInt(low), 32 - hostBits)
      : prefixRange(6, (0x2a00_0000n << 96n) + (BigInt(low) << 62n), 66 - hostBits),
  )
