// Documents and comments lead somewhere: every relative link of every Markdown file that is
// committed names a file or folder that exists, and where it names a heading, one that stands there.
// So does every path of the project that stands in back-ticks there, or in a comment of src or
// build. Not held to it: the change log and kept runs of benchmarks, which tell of what was.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { sourceFiles } from '../source.ts'

const files = execFileSync(
  'git',
  ['-C', packageRoot, 'ls-files', '--cached', '--others', '--exclude-standard'],
  { encoding: 'utf8', maxBuffer: 2 ** 26 },
)
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(packageRoot, path)))
const documents = files.filter((path) => path.endsWith('.md'))

const withoutCode = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')

/** As GitHub makes them: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function deadLinks(path: string, text: string): readonly string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? join(packageRoot, path) : resolve(packageRoot, dirname(path), file)
    if (!existsSync(target)) return true
    if (anchor === undefined || statSync(target).isDirectory()) return false
    return !anchorsOf(readFileSync(target, 'utf8')).has(anchor)
  })
}

/** Every run of segments in a path that exists: `src/ip`, `ip/range.ts`, `range.ts`. */
const pathEnds = new Set(
  files.flatMap((path) => {
    const parts = path.split('/')
    return parts.flatMap((_, from) =>
      parts.slice(from).map((_, count) => parts.slice(from, from + count + 1).join('/')),
    )
  }),
)

/** The folders with which a path begins that names something of the project. */
const rooms = new Set(
  files.flatMap((path) => /^(?:(?:src|build)\/)?([\w-]+)\//.exec(path)?.[1] ?? []),
)
rooms.add('src').add('build')

/** Files of an application, not of the project. */
const ofApplications: ReadonlySet<string> = new Set(['proxy.ts', 'app/login/route.ts'])

function isDead(path: string): boolean {
  const name = path.replace(/\/$/, '')
  // `format-NAME.ts` is for the reader to fill in.
  return !pathEnds.has(name) && !/[A-Z]{3}/.test(name) && !ofApplications.has(name)
}

function deadPathsOfDocument(text: string): readonly string[] {
  return [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => {
      const [room = ''] = path.split('/')
      // What is compiled, fetched or kept lies below these.
      if (room === 'dist' || /^data\/(?!feeds|tables|iana)/.test(path)) return false
      return /\.tsx?$/.test(path) || (path.includes('/') && rooms.has(room))
    })
    .filter(isDead)
}

function deadPathsOfComments(text: string): readonly string[] {
  const comments = [...text.matchAll(/(?:^|\s)\/\/(.*)|\/\*([\s\S]*?)\*\//g)]
  return comments
    .flatMap(([, line = '', block = '']) => [
      ...`${line}${block}`.matchAll(/(?<![\w./-])(?:[\w.-]+\/)*[\w-]+\.(?:tsx?|mjs|md|fbs)\b/g),
    ])
    .map(([path]) => path)
    .filter(isDead)
}

describe('the links', () => {
  it.each(documents)('of %s lead to files and headings that exist', (path) => {
    expect(deadLinks(path, readFileSync(join(packageRoot, path), 'utf8'))).toEqual([])
  })

  it('are looked at: a dead one is found', () => {
    const text = '[a](nowhere.md) [b](#none) [c](#the-answer) `[d](x.md)`\n## The answer\n'
    expect(deadLinks('README.md', text)).toEqual(['nowhere.md', '#none', '#the-answer'])
  })
})

describe('the paths', () => {
  it('in back-ticks in documents exist', () => {
    const kept = documents.filter((path) => !/^CHANGELOG\.md$|^bench\/.*\/runs\//.test(path))
    const dead = kept.flatMap((path) =>
      deadPathsOfDocument(readFileSync(join(packageRoot, path), 'utf8')).map(
        (name) => `${path}: ${name}`,
      ),
    )
    expect(dead).toEqual([])
  })

  it('in comments of src and build exist', () => {
    const dead = sourceFiles(['src', 'build', 'deploy/reference']).flatMap(({ path, text }) =>
      deadPathsOfComments(text).map((name) => `${path}: ${name}`),
    )
    expect(dead).toEqual([])
  })

  it('are looked at: dead ones are found', () => {
    const text = '`src/base/clean-text.ts` `ip/range.ts` `supervisor/tables/` `supervisor/shelf/`'
    expect(deadPathsOfDocument(text)).toEqual(['src/base/clean-text.ts', 'supervisor/shelf/'])
    const code = 'f() // as gone.ts has it\n/** See (ip/gone.ts), range.ts. */\n"https://a/b.ts"'
    expect(deadPathsOfComments(code)).toEqual(['gone.ts', 'ip/gone.ts'])
  })
})
