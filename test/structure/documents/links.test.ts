// Documents lead somewhere: every relative link of every Markdown file that is committed names a
// file or folder that exists, and where it names a heading, one that stands there.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'

const documents = execFileSync('git', ['-C', packageRoot, 'ls-files', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(packageRoot, path)))

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

describe('the links', () => {
  it.each(documents)('of %s lead to files and headings that exist', (path) => {
    expect(deadLinks(path, readFileSync(join(packageRoot, path), 'utf8'))).toEqual([])
  })

  it('are looked at: a dead one is found', () => {
    const text = '[a](nowhere.md) [b](#none) [c](#the-answer) `[d](x.md)`\n## The answer\n'
    expect(deadLinks('README.md', text)).toEqual(['nowhere.md', '#none', '#the-answer'])
  })
})
