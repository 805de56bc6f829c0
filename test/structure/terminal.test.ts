// Text for people goes through one writer, src/cli/terminal, which shows what would steer a
// terminal; nothing else writes to standard output or standard error.

import { describe, expect, it } from 'vitest'
import { sourceFiles } from './source.ts'

const writer = 'src/cli/terminal/'

/** Each with the reason why it may. */
const others: Readonly<Record<string, string>> = {
  'src/client/middleware/request-guard.ts': 'the same, where it observes',
  'src/client/core/failure-log.ts': 'speaks on the console of an application that set no hook',
  'src/base/system/debugger-signal.ts': 'one line of its own words, where no log is open',
  'src/base/log.ts': 'writes whole lines of the log, escaped by the same function',
}

const files = sourceFiles(['src', 'build'])
const outside = files.filter(({ path }) => !path.startsWith(writer) && !(path in others))

/** Whether it is a terminal may be asked anywhere. */
const ways: readonly (readonly [string, RegExp])[] = [
  [
    'a stream of the process',
    /\bprocess\.std(?:out|err)\b(?!\.isTTY)|\{[^}\n]*\bstd(?:out|err)\b[^}\n]*\} (?:= |from 'node:)process/,
  ],
  // By what it can do: there is also a page that is called the console.
  [
    'the console',
    /\bconsole\b\s*(?:\.\s*(?:assert|clear|count|debug|dir|error|group|info|log|table|time|trace|warn)\w*\b|\[)/,
  ],
  ['a descriptor by number', /\b(?:writeSync|writevSync|writeFileSync|write)\(\s*[12],/],
  ['the path of a stream', /\/dev\/(?:stdout|stderr|tty|fd\/[12])|\/proc\/self\/fd\/[12]\b/],
  ['a stream of a terminal', /'node:(?:tty|repl)'/],
  ['a package that draws', /'@clack\/prompts'/],
]

describe('nothing writes for people but the one writer', () => {
  it.each(ways)('by %s', (_name, way) => {
    expect(outside.filter(({ text }) => way.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('that is found where it is', () => {
    const text = (part: string): string =>
      files
        .filter(({ path }) => path.startsWith(part))
        .map((file) => file.text)
        .join('')
    const found = ways.filter(([, way]) => way.test(text(writer))).map(([name]) => name)
    expect(found).toEqual(['a stream of the process', 'a package that draws'])
    const other = "import { stdout } from 'node:process'"
    expect(ways[0]?.[1].test(other)).toBe(true)
    for (const path of Object.keys(others)) {
      expect(ways.some(([, way]) => way.test(text(path)))).toBe(true)
    }
  })

  it('whose codes of a terminal stand in it alone', () => {
    const codes = /\\x1b\[|\\u001b\[|\\u\{1b\}|\\033\[/i
    const where = files.filter(({ text }) => codes.test(text)).map(({ path }) => path)
    expect(where.filter((path) => !path.startsWith(writer))).toEqual([])
  })

  it('as bytes, only answers of check, whose rows escape their texts, and files to -', () => {
    const where = files.filter(({ text }) => /\bio\.write\(/.test(text)).map(({ path }) => path)
    expect(where.toSorted()).toEqual([
      'src/cli/compiler/export-command.ts',
      'src/cli/lines/check-command.ts',
      'src/cli/lists/state-command.ts',
    ])
  })
})
