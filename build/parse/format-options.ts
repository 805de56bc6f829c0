// Checks a parser's options from the catalogue by a schema with plain messages.

import { z } from 'zod'
import { inputError } from '../../src/base/coded-error.ts'
import type { FormatOptions } from './entry.ts'

export const textOption = z.string('a text').min(1, 'a text')

export const textsOption = z
  .array(z.string('a list of strings').min(1, 'a list of strings'), 'a list of strings')
  .min(1, 'a list of strings')

export function refuseOption(name: string, wanted: string): never {
  throw inputError('bad_format_options', `option "${name}" must be ${wanted}`)
}

/** Throws `bad_format_options`, also for unknown options. */
export function readOptions<Shape extends z.ZodRawShape>(shape: Shape, options: FormatOptions) {
  const [unknown] = Object.keys(options).filter((name) => !Object.hasOwn(shape, name))
  if (unknown !== undefined) {
    refuseOption(unknown, `one of ${Object.keys(shape).join(', ') || 'none'}`)
  }
  const { data, error } = z.object(shape).safeParse(options)
  if (data !== undefined) return data
  const { path = [], message = '' } = error?.issues[0] ?? {}
  return refuseOption(String(path[0]), message)
}

export const noOptions = (options: FormatOptions): object => readOptions({}, options)
