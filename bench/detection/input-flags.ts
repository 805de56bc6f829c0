// The flags by which the measuring programs find snapshots and history.

import { join } from 'node:path'
import { existsSync } from 'node:fs'
import { type Day, parseDay } from '../../src/base/day.ts'
import { usageError } from '../harness/option.ts'

/** For `readFlags`. */
export const inputTexts = ['mirror', 'snapshots', 'history', 'as-of', 'catalogue'] as const

/** The places that the flags name, or those of an operator's own folder. */
export function inputPlaces(values: {
  readonly mirror?: string | undefined
  readonly snapshots?: string | undefined
  readonly history?: string | undefined
}): {
  readonly mirror: string | undefined
  readonly snapshots: string
  readonly history: string | undefined
} {
  const { mirror, snapshots = join('data', 'snapshots') } = values
  if (mirror !== undefined && !existsSync(mirror)) throw usageError(`There is no folder ${mirror}.`)
  const own = join('data', 'history')
  const history = values.history ?? (mirror === undefined && existsSync(own) ? own : undefined)
  return { mirror, snapshots, history }
}

/** Throws `usage` where it is no day. */
export function dayOption(text: string | undefined): Day | undefined {
  if (text === undefined) return undefined
  const day = parseDay(text)
  if (day === undefined) throw usageError('--as-of must be a day, YYYY-MM-DD.')
  return day
}
