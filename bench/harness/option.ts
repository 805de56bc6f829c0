// How every benchmark program reads its command line: one table of flags in, their values out, and
// one sentence for each mistake. What a flag means stands at the top of the program that takes it.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { usageError } from '../../src/base/coded-error.ts'
import { packageRoot } from '../../src/base/package-root.ts'

/** Where tables are looked for when none is named: the one of the tests, then the operator's. */
const tablePlaces = ['dist/world/2026-08-22.iprisk', 'data/table/world.iprisk'] as const

/** The limits of a flag that takes a whole number, and what it is where nobody gives it. */
export interface WholeNumber {
  /** 1 where it is not said. */
  readonly min?: number
  readonly max: number
  readonly otherwise: number
  /** In the place of `otherwise` in a run with --smoke. */
  readonly smoke?: number
}

export type Flags<N extends string, T extends string, S extends string> = Readonly<
  Record<N, number> & Record<T, string | undefined> & Record<S, boolean>
> & { readonly positionals: readonly string[] }

/** Throws `usage`, or what node's `parseArgs` throws. */
export function readFlags<
  N extends string = never,
  T extends string = never,
  S extends string = never,
>(taken: {
  readonly numbers?: Readonly<Record<N, WholeNumber>>
  readonly texts?: readonly T[]
  readonly switches?: readonly S[]
  readonly positionals?: boolean
}): Flags<N, T, S> {
  const numbers = Object.entries<WholeNumber>(taken.numbers ?? {})
  const { texts = [], switches = [], positionals: allowPositionals = false } = taken
  const { values, positionals } = parseArgs({
    allowPositionals,
    options: Object.fromEntries([
      ...[...numbers.map(([name]) => name), ...texts].map((name) => [name, { type: 'string' }]),
      ...switches.map((name) => [name, { type: 'boolean', default: false }]),
    ]) as Record<string, { readonly type: 'string' | 'boolean' }>,
  })
  const read = numbers.map(([name, limits]): [string, number] => {
    const { otherwise, smoke = otherwise } = limits
    const text = values[name]
    const absent = values['smoke'] === true ? smoke : otherwise
    return [name, typeof text === 'string' ? wholeNumber(name, text, limits) : absent]
  })
  return { ...values, ...Object.fromEntries(read), positionals } as unknown as Flags<N, T, S>
}

function wholeNumber(flag: string, text: string, { min = 1, max }: WholeNumber): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  throw usageError(`--${flag} must be a whole number from ${min} to ${max}.`)
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
