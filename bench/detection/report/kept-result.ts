// What a measurement keeps under docs/: everything it found as `newest.json`, and a page with one
// table of it. The page is made from the JSON alone, so a test can compare the two.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WilsonShare } from '../../../src/feedback/wilson-share.ts'
import { usageError } from '../../../src/base/coded-error.ts'

const fileName = 'newest.json'

/** Throws `usage` where none is kept. */
export function readKept(folder: string): unknown {
  const path = join(folder, fileName)
  if (!existsSync(path)) throw usageError(`${folder} holds no kept result.`)
  return JSON.parse(readFileSync(path, 'utf8')) as unknown
}

/** Writes `newest.json` and returns what a reader finds there. */
export function writeKept(folder: string, result: object): unknown {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, fileName), `${JSON.stringify(result, rounded)}\n`)
  return readKept(folder)
}

/** Nine decimals: badness is counted in millionths. NaN, of nothing, becomes null. */
function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isNaN(value) ? null : Number(value.toFixed(9))
}

export function percent(share: number | null | undefined, decimals = 1): string {
  if (share === null || share === undefined || Number.isNaN(share)) return ''
  return `${(100 * share).toFixed(decimals)} %`
}

export function interval({ share, low, high }: WilsonShare): string {
  return `${percent(share)} (${percent(low)}–${percent(high)})`
}
