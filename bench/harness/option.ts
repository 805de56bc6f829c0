// What the benchmark programs share of their command lines: numbers in their limits, the table, and
// one sentence for each mistake. Flags themselves stand in the program that takes them.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { IpriskError } from '../../src/base/coded-error.ts'
import { packageRoot } from '../../src/base/package-root.ts'

/** Where tables are looked for when none is named: the one of the tests, then the operator's. */
const tablePlaces = ['dist/world/2026-08-22.iprisk', 'data/table/world.iprisk'] as const

export function usageError(message: string): IpriskError {
  return new IpriskError({ code: 'usage', message, fault: 'usage' })
}

/** The whole number that a flag says, or `otherwise`. Throws `usage`. */
export function wholeNumberOption(
  flag: string,
  text: string | undefined,
  limits: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  if (text === undefined) return limits.otherwise
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < limits.min || value > limits.max) {
    throw usageError(`--${flag} must be a whole number from ${limits.min} to ${limits.max}.`)
  }
  return value
}

/** The path of the table to measure, absolute. Throws `usage` where there is none. */
export function tablePath(named: string | undefined): string {
  if (named !== undefined) {
    if (existsSync(named)) return resolve(named)
    throw usageError(`There is no table at ${named}.`)
  }
  const found = tablePlaces.map((place) => join(packageRoot, place)).find((it) => existsSync(it))
  if (found !== undefined) return found
  throw usageError(
    `There is no table at ${tablePlaces.join(' or ')}: make one with "npx iprisk build", or name ` +
      'one with --table.',
  )
}
