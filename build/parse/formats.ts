// The formats of the catalogue: parser and check of options. A new format is a file and a row here.

import { inputError } from '../../src/base/coded-error.ts'
import { asnsOptions, parseAsns } from './format-asns.ts'
import { csvOptions, parseCsv } from './format-csv.ts'
import type { FormatOptions, Parser } from './entry.ts'
import { parseIpsum, parseList, parseProxies } from './format-list.ts'
import { jsonOptions, parseJson } from './format-json.ts'
import { noOptions } from './format-options.ts'

interface Format {
  readonly parse: Parser
  /** Throws `bad_format_options`. */
  readonly checkOptions: (options: FormatOptions) => unknown
}

const formats = {
  list: { parse: parseList, checkOptions: noOptions },
  proxies: { parse: parseProxies, checkOptions: noOptions },
  csv: { parse: parseCsv, checkOptions: csvOptions },
  ipsum: { parse: parseIpsum, checkOptions: noOptions },
  asns: { parse: parseAsns, checkOptions: asnsOptions },
  json: { parse: parseJson, checkOptions: jsonOptions },
} as const satisfies Readonly<Record<string, Format>>

export type FormatName = keyof typeof formats
export const formatNames = Object.keys(formats) as readonly FormatName[]

/** Throws `unknown_format`. */
export function formatOf(name: string): Format {
  const known = formatNames.find((one) => one === name)
  if (known === undefined) {
    throw inputError(
      'unknown_format',
      `"${name}" is not a format; known: ${formatNames.join(', ')}`,
    )
  }
  return formats[known]
}
