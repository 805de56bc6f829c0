// The configuration file against whoever writes it: whatever lies there, the answer is settings or
// problems in words, at once; never a raw exception, never a wait.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseKeyFile } from '../../src/config/key-file.ts'
import { optionTable } from '../../src/config/option-table.ts'
import type { SettingProblem } from '../../src/config/setting-problem.ts'
import { readSettings, validateSettings } from '../../src/config/settings.ts'
import { inForm } from '../form.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'iprisk-config-file-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true })
})

const path = (): string => join(cwd, 'iprisk.json')
const sources = (config?: string) => ({
  command: 'serve' as const,
  flags: config === undefined ? {} : { config },
  environment: {},
  cwd,
})
function problemsOf(content: string | Uint8Array, config?: string): readonly SettingProblem[] {
  writeFileSync(path(), content)
  return problemsThere(config)
}
function problemsThere(config?: string): readonly SettingProblem[] {
  const judged = validateSettings(sources(config))
  return 'length' in judged ? judged : []
}
const text = (problems: readonly SettingProblem[]): string =>
  problems.map(({ name, origin, allowed }) => `${name} (${origin}): ${allowed}`).join('\n')

describe('what is no file', () => {
  it.each([
    ['a pipe', () => execFileSync('mkfifo', [path()]), 'it is a pipe, and must be a regular file'],
    ['a folder', () => mkdirSync(path()), 'it is a folder'],
    ['a device', () => symlinkSync('/dev/zero', path()), 'it is a device, and must be'],
  ])('%s is refused at once, found or named', (_name, make, reason) => {
    make()
    for (const config of [undefined, 'iprisk.json']) {
      expect(text(problemsThere(config))).toContain(reason)
    }
  })

  it('and holds the value of an option does not stop a start either', () => {
    execFileSync('mkfifo', [join(cwd, 'port')])
    const environment = { IPRISK_PORT_FILE: 'port' }
    expect(() => readSettings({ ...sources(), environment })).toThrow('this one is empty')
  })
})

describe('whose file it is', () => {
  it('decides whether one that is only found is obeyed', () => {
    writeFileSync(path(), '{"serve":{"port":1234}}')
    chmodSync(path(), 0o666)
    const found = text(problemsThere())
    expect(found).toContain('config (the default): it cannot be used: users other than its owner')
    expect(found).toContain(`pass --config ${path()}`)
  })

  it('is said of one that was named, which is obeyed', () => {
    writeFileSync(path(), '{"serve":{"port":1234}}')
    chmodSync(path(), 0o666)
    const told: unknown[] = []
    const settings = readSettings(sources('iprisk.json'), (file) => told.push(file))
    expect(settings.serve.port).toBe(1234)
    expect(told).toEqual([
      expect.objectContaining({
        path: path(),
        distrust: 'users other than its owner can write to it',
      }),
    ])
  })

  it('is nothing to say of one’s own', () => {
    writeFileSync(path(), '{}')
    const told: { readonly path: string; readonly distrust: string | undefined }[] = []
    readSettings(sources(), (file) => told.push(file))
    expect(told.map(({ path, distrust }) => [path, distrust])).toEqual([[path(), undefined]])
  })

  it.skipIf(process.getuid?.() !== 0)('may be another user’s, which is refused', () => {
    writeFileSync(path(), `{"state":"${cwd}/his"}`)
    chownSync(path(), 12_345, 12_345)
    expect(text(problemsThere())).toContain('it belongs to user 12345, not to root')
    expect(problemsThere('iprisk.json')).toEqual([])
  })
})

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('content', () => {
  it.each([
    ['[[[…', '['.repeat(1_048_576), 'must be JSON: '],
    ['{"a":{"a":…', deep(150_000), 'must not be nested deeper than 16 levels'],
    ['[[…]]', `{"table":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, 'nested deeper than 16'],
  ])('%s that is deep is a problem in words', (_name, content, reason) => {
    expect(text(problemsOf(content))).toContain(reason)
    expect(() => readSettings(sources())).toThrow(
      expect.objectContaining({ code: 'settings_invalid' }),
    )
  })

  it.each(['__proto__', 'constructor', 'prototype'])(
    '%s is no name, wherever it stands',
    (name) => {
      for (const [before, after] of [
        ['', ''],
        ['{"plans":', '}'],
        ['{"plans":{"team":', '}}'],
        ['{"build":{"feeds":', '}}'],
        ['{"build":{"networks":[', ']}}'],
      ] as const) {
        const found = problemsOf(`${before}{"${name}":{"insights":"always"}}${after}`)
        expect(text(found)).toMatch(new RegExp(`${name} \\(the file .*: the name is reserved`))
      }
      expect(({} as Record<string, unknown>)['insights']).toBeUndefined()
    },
  )

  it('that appears twice is reported, and the last one counts', () => {
    writeFileSync(path(), '{"serve": {"port": 1}, "table": "x",\n"serve": {"port": 2}}')
    const told: string[] = []
    const settings = readSettings(sources(), ({ repeated }) => told.push(...repeated))
    expect(settings.serve.port).toBe(2)
    expect(told).toEqual([
      'serve: it appears twice, and only the last one counts (line 2, column 1); remove or rename one',
    ])
  })

  it('of a file of keys is judged by the same rules', () => {
    const context = { plans: {}, origin: 'the file x' }
    const judge = (written: string): string => {
      const judged = parseKeyFile(written, context)
      return 'length' in judged ? text(judged) : 'taken'
    }
    expect(judge('{"keys":[{"__proto__":{"id":"x"}}]}')).toContain('keys.0.__proto__ (the file x)')
    expect(judge(deep(150_000))).toContain('nested deeper than 16 levels')
    expect(judge('[')).toContain('must be JSON')
    expect(judge('{"keys":[],"keys":[]}')).toContain('keys (the file x): it appears twice')
  })
})

/** Problems without words, or with those of an engine. */
function wordless(found: readonly SettingProblem[]): readonly SettingProblem[] {
  return found.filter(
    ({ name, origin, allowed }) =>
      [name, origin, allowed].includes('') ||
      /RangeError|Maximum call|undefined|\[object/.test(allowed),
  )
}

const names = Object.keys(optionTable).flatMap((name) => name.split('.'))
const member = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...names, 'plans', 'team', 'rate', 'burst', 'feeds') },
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '$schema', '\u202e', '\0'),
  fc.string({ unit: 'binary' }),
)
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(-1, 0, 1e308, '0', 'none', '\u001b[2J', 'x'.repeat(5000), -9_007_199_254_740_991),
)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'config' },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    // A member twice, and a member that an object would take for its prototype.
    fc.array(fc.tuple(member, tie('tree')), { maxLength: 6 }).map((members) => ({ members })),
  ),
}))
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (!('members' in value)) return JSON.stringify(value)
  const members = value.members as readonly (readonly [string, unknown])[]
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`).join(',')}}`
}
const runs = { numRuns: inForm({ short: 120, full: 200, long: 8000 }) }

describe('any file', () => {
  it('of JSON gives settings or problems', () => {
    fc.assert(
      fc.property(tree, (value) => {
        expect(wordless(problemsOf(written(value)))).toEqual([])
      }),
      runs,
    )
  })

  it('of bytes gives settings or problems', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(wordless(problemsOf(bytes))).toEqual([])
      }),
      runs,
    )
  })

  it('of broken JSON gives problems that name a place', () => {
    const cut = fc.tuple(tree, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
    fc.assert(
      fc.property(cut, ([value, at, put]) => {
        const whole = `{"serve":${written(value)}}`
        const place = at % whole.length
        const content = whole.slice(0, place) + put + whole.slice(place + 1)
        expect(wordless(problemsOf(content))).toEqual([])
      }),
      runs,
    )
  })

  it('of any depth gives problems', () => {
    const around = fc.tuple(fc.nat(40_000), fc.constantFrom(['{"a":', '}'], ['[', ']']))
    fc.assert(
      fc.property(around, ([levels, [open = '', close = '']]) => {
        const content = `{"serve":${open.repeat(levels)}1${close.repeat(levels)}}`
        expect(wordless(problemsOf(content))).toEqual([])
      }),
      { numRuns: inForm({ short: 12, full: 60, long: 1200 }) },
    )
  })
})
