// Reads a parser's options, which the catalogue gives as plain JSON. Every reader names the option
// it refuses, so that a wrong catalogue file fails when it is loaded and not in the middle of a
// build. Not a schema library: formats have few options, and all of them are texts or lists.

import { inputError } from '../../src/base/coded-error.ts'
import type { FormatOptions } from './entry.ts'

/** Throws `bad_format_options` for the option `name`. */
export function refuseOption(name: string, wanted: string): never {
  throw inputError('bad_format_options', `option "${name}" must be ${wanted}`)
}

/** Refuses options that the format does not know: a misspelled one must not be ignored. */
export function refuseUnknownOptions(options: FormatOptions, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) refuseOption(name, `one of ${known.join(', ') || 'none'}`)
  }
}

/** The check of a format without options. */
export function noOptions(options: FormatOptions): void {
  refuseUnknownOptions(options, [])
}

export function textOption(options: FormatOptions, name: string): string | undefined {
  const value = options[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value === '') refuseOption(name, 'a text')
  return value
}

export function flagOption(options: FormatOptions, name: string): boolean {
  const value = options[name]
  if (value === undefined) return false
  if (typeof value !== 'boolean') refuseOption(name, 'true or false')
  return value
}

export function textsOption(options: FormatOptions, name: string): readonly string[] | undefined {
  const value = options[name]
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length === 0) refuseOption(name, 'a list of texts')
  return value.map((item: unknown) =>
    typeof item === 'string' && item !== '' ? item : refuseOption(name, 'a list of texts'),
  )
}
