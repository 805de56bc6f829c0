// docs/layout.md answers "which file do I open for …?". A row names a file and a symbol; its text
// may name further symbols, header names and flags in backticks, and log lines in quotes: all stand
// in the row's own file, so that a row cannot claim for one file what another one does. And where
// codes and headers are decided, no file is left out.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { reasonCodes } from '../../../src/score/points/reason-codes.ts'
import { floors } from '../floors.ts'
import { sourceFiles } from '../source.ts'

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')
const text = read('docs/layout.md')

interface Row {
  readonly path: string
  readonly symbol: string
  readonly claim: string
}

const rowForm = /^- `([^`]+)`, `(\w+)`: ([^]+?)(?=\n- |\n\n|\n$)/gm

function rowsOf(part: string): readonly Row[] {
  return [...part.matchAll(rowForm)].map(([, path = '', symbol = '', claim = '']) => ({
    path,
    symbol,
    claim: claim.replaceAll(/\s+/g, ' '),
  }))
}

const parts = text.split('\n### … ').slice(1)
const questions = new Map(parts.map((part) => [part.split('\n')[0] ?? '', rowsOf(part)]))
const rows = [...questions.values()].flat()

/** Whether a text in TypeScript declares the symbol, exported or not. */
function declares(source: string, symbol: string): boolean {
  return new RegExp(
    `^(?:export )?(?:async )?(?:const|function|interface|type) ${symbol}\\b`,
    'm',
  ).test(source)
}

const isPath = (name: string): boolean => /^(src|build|test|bench|data)\//.test(name)

/** What a row says of its file and the file does not bear out; nothing, where it is right. */
function falseClaims({ claim }: Row, source: string): readonly string[] {
  const names = [...claim.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const said = [...claim.matchAll(/"([^"]+)"/g)].map(([, line = '']) => line)
  // In the code a flag has the name of its setting: `--hang-ms` is `hangMs`.
  const inCode = (name: string): string =>
    name.replace(/^--/, '').replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [
    ...names.filter(
      (name) => !isPath(name) && ![name, inCode(name)].some((one) => source.includes(one)),
    ),
    ...said.filter((line) => !source.includes(line)),
  ]
}

const withFile = rows.map((row) => ({ ...row, source: read(row.path) }))
const namedUnder = (question: string): readonly string[] =>
  (questions.get(question) ?? []).map(({ path }) => path)

describe('docs/layout.md', () => {
  it('answers questions of changes and of faults, each by files and symbols', () => {
    const [, adding = '', searching = ''] = text.split(/^## I (?:add|look for) …$/m)
    const headings = (part: string): readonly (string | undefined)[] =>
      [...part.matchAll(/^### … (.+)$/gm)].map(([, question]) => question)
    expect(headings(adding)).toEqual([
      'a new feed format',
      'a new reason code',
      'a new CLI option',
      'a DNS option',
      'a role',
      'a metric, or another help text of one',
    ])
    expect(headings(searching)).toEqual([
      'a wrong rate limit',
      'a wrong size of a lease',
      'a wrong `Retry-After`',
      'a worker that hangs',
      'a feed that is quarantined too often',
      'a feed that is gone, frozen or empty',
      'a slow swap',
      'a leaked file descriptor',
      'a wrong country',
      'the text of a message',
      'a header that is missing',
    ])
    for (const answer of questions.values()) expect(answer.length).toBeGreaterThan(1)
    expect(text.match(/^- /gm)).toHaveLength(rows.length)
  })

  it.each(withFile)('finds $symbol in $path', ({ source, symbol }) => {
    expect(declares(source, symbol)).toBe(true)
  })

  it.each(withFile)('says of $symbol in $path what stands there', ({ source, ...row }) => {
    expect(falseClaims(row, source)).toEqual([])
  })

  it('names no path that does not exist', () => {
    const named = [...text.matchAll(/`([^`]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => isPath(path) && !path.includes('NAME'))
    expect(named.length).toBeGreaterThanOrEqual(rows.length)
    expect(named.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([])
  })

  it('names every file of the score that chooses a reason code', () => {
    const quoted = new RegExp(`'(${reasonCodes.join('|')})'`)
    const choosing = sourceFiles(['src/score', 'src/table/answer']).filter(({ text: code }) => {
      return quoted.test(code)
    })
    const missing = choosing.filter(({ path }) => !namedUnder('a new reason code').includes(path))
    expect(choosing.length).toBeGreaterThan(3)
    expect(missing.map(({ path }) => path)).toEqual([])
  })

  it('names every file that writes a header of an answer', () => {
    const writes = /\.(writeHeader|writeHead|writeStatus)\(|\\r\\n[a-z-]+: |\bheaders: \{ ?'?[a-z.]/
    const isOfServer = ({ path }: { readonly path: string }): boolean =>
      !/^src\/(?:client|publish|embedded)\//.test(path)
    const writing = sourceFiles(['src']).filter(
      (file) => isOfServer(file) && writes.test(file.text),
    )
    const named = namedUnder('a header that is missing')
    expect(writing.length).toBeGreaterThan(4)
    expect(writing.map(({ path }) => path).filter((path) => !named.includes(path))).toEqual([])
  })

  it('names each header in the row of the file that writes it', () => {
    const names = /writeHeader\('([a-z-]+)'|\\r\\n([a-z-]+): /g
    const answer = questions.get('a header that is missing') ?? []
    const written = answer.flatMap(({ path, claim }) =>
      [...read(path).matchAll(names)].map(([, one, other]) => ({
        path,
        name: one ?? other,
        claim,
      })),
    )
    expect(written.length).toBeGreaterThan(10)
    expect(written.filter(({ name, claim }) => !claim.includes(`\`${name}\``))).toEqual([])
  })

  it('would miss a symbol that is gone, and a claim that is another file’s', () => {
    expect(declares('export const other = 1\n', 'formats')).toBe(false)
    expect(declares('export const formatsOld = 1\n', 'formats')).toBe(false)
    const row = { path: '', symbol: '', claim: '`retry-after`, `--hang-ms`; logs "It hangs."' }
    expect(falseClaims(row, "const hangMs = 'x'")).toEqual(['retry-after', 'It hangs.'])
  })
})

it('ARCHITECTURE.md has at most 1,800 words, as wc -w counts them', () => {
  const words = read('ARCHITECTURE.md')
    .split(/\s+/)
    .filter((word) => word !== '')
  expect(words.length).toBeLessThanOrEqual(1800)
})

describe('docs/README.md', () => {
  const index = read('docs/README.md')
  const linked = [...index.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) => path)

  it('links every document, and nothing that does not exist', () => {
    const all = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && path !== 'README.md')
      .filter((path) => !path.includes('node_modules'))
    expect(linked.filter((path) => !path.startsWith('../')).toSorted()).toEqual(all.toSorted())
    expect(linked.filter((path) => !existsSync(join(packageRoot, 'docs', path)))).toEqual([])
  })

  it('names documents that open with the question that they answer', () => {
    for (const path of linked.filter((one) => !one.startsWith('../'))) {
      const [title = '', opening = ''] = read(join('docs', path)).split('\n\n')
      expect([path, title]).toEqual([path, expect.stringMatching(/^# /)])
      expect([path, opening]).toEqual([path, expect.stringContaining('?')])
    }
  })
})

it('ARCHITECTURE.md lists the folders of src in the order of the floors, and all of them', () => {
  const table = /^\| folder, highest layer first[^]*?\n\n/m.exec(read('ARCHITECTURE.md'))?.[0] ?? ''
  const named = table
    .split('\n')
    .slice(2)
    .map((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path))
  const floorOf = (path: string | undefined): number =>
    floors.findIndex((floor) => floor.some((one) => one === path))
  const levels = named.filter((row) => row.length > 0).map((row) => row.map(floorOf))
  expect(levels.flat()).not.toContain(-1)
  const fallen = levels.slice(1).filter((row, at) => Math.max(...row) > Math.min(...levels[at]!))
  expect(fallen).toEqual([])
  const listed = new Set(named.flat())
  expect(floors.flat().filter((path) => !listed.has(path))).toEqual([])
})
