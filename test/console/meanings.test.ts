// Headings and numbers of the console link to what they mean: each to a meaning that is there, and
// every metric that a meaning names is one of the server's.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'

const folder = join(packageRoot, 'src/console/page')
type Meaning = Readonly<Record<'title' | 'text' | 'from', string>>
const meanings = JSON.parse(readFileSync(join(folder, 'text/meanings.json'), 'utf8')) as Readonly<
  Record<string, Meaning>
>
const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(folder, name), 'utf8'))

describe('a meaning', () => {
  const ids = Object.keys(meanings)
  const linked = pages.flatMap((text) =>
    [...text.matchAll(/(?:\bmeaning=|\bmeaning: |\bfigure\(|<Meaning of=)["']([a-z-]+)["']/g)].map(
      ([, id = '']) => id,
    ),
  )

  it('is there for every link, and each has one', () => {
    expect(linked.length).toBeGreaterThan(20)
    expect(linked.filter((id) => !ids.includes(id))).toEqual([])
    expect(ids.filter((id) => !linked.includes(id))).toEqual([])
  })

  it('names metrics and documents that exist', () => {
    const operating = readFileSync(join(packageRoot, 'docs/operate.md'), 'utf8')
    const named = Object.values(meanings).flatMap(({ from }) => from.match(/\biprisk_\w+/g) ?? [])
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !operating.includes(`\`${name}\``))).toEqual([])
    const documents = Object.values(meanings).flatMap(
      ({ from }) => from.match(/docs\/\S+\.md/g) ?? [],
    )
    for (const path of documents)
      expect(readFileSync(join(packageRoot, path)).length).toBeGreaterThan(0)
  })
})
