// Whose data is in an export, what its NOTICE says of it, and what --licences refuses.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { writeTable } from '../../build/write/write-table.ts'
import type { IpriskError } from '../../src/base/coded-error.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import type { ExportWishes } from '../../src/export/run-export.ts'
import {
  checkLicences,
  readLicences,
  unstatedSources,
  usedSources,
} from '../../src/export/source-licences.ts'
import type { Source } from '../../src/table/file/table-source.ts'
import { openTable } from '../../src/table/open-table.ts'
import { newFolder } from '../build/fetch/site.ts'
import { asOf, smallContent } from '../table/small-table.ts'
import { exported, smallTable } from './small-export.ts'

function source(id: string, kind: string, licence: string, isFeed: boolean): Source {
  const { voice } = smallTable.sources[0]!
  const base = {
    id,
    kind,
    licence,
    provider: `The makers of ${id}`,
    homepage: '',
    day: asOf,
    entries: 1,
  }
  return isFeed && voice !== undefined ? { ...base, voice } : base
}

const sources = [
  source('networks', 'network', 'CC-BY-4.0', false),
  source('places', 'location', 'CC-BY-4.0', false),
  source('as-classes', 'network', 'MIT', true),
  source('vpn-list', 'vpn', 'unstated', true),
  source('mine.mmdb', 'location', "the operator's own", false),
]
interface Switches {
  readonly build: { readonly feeds: Readonly<Record<string, boolean>> }
}
const ids = (of: readonly Source[]): readonly string[] => of.map(({ id }) => id)

describe('the sources of an export', () => {
  it.each([
    [['verdict'], ['networks', 'as-classes', 'vpn-list']],
    [['network'], ['networks', 'as-classes']],
    [['location'], ['places', 'mine.mmdb']],
  ] as const)('that reads %s are %s', (parts, expected) => {
    expect(ids(usedSources(sources, new Set(parts)))).toEqual(expected)
  })

  it('are refused by name where their licence is not among those allowed', () => {
    const allowed = ['mit', 'CC-BY-4.0']
    expect(() => checkLicences(sources, allowed)).toThrow(/vpn-list: unstated/)
    expect(() => checkLicences(sources, [...allowed, 'unstated'])).not.toThrow()
    expect(ids(unstatedSources(sources))).toEqual(['vpn-list'])
  })

  it('are named with a line of iprisk.json that a build takes, and with what no line leaves out', () => {
    const feeds = [
      'vpn-x4b',
      'vpn-x4b-networks',
      'tor-exits-x4b',
      'table-crawlers',
      'neighbours-vpn',
    ]
    const all = [...sources, ...feeds.map((id) => source(id, 'vpn', 'GPL-3.0', true))]
    const lines = (of: readonly Source[]): readonly string[] => {
      try {
        checkLicences(of, ['MIT', 'unstated'])
      } catch (error) {
        return (error as IpriskError).lines
      }
      return []
    }
    const [line = '', others] = lines(all).slice(-2)
    const json = /\((\{.*\})\), Build with your own files \(--networks, --locations\), or /.exec(
      line,
    )
    const catalogue = loadCatalogue(join(packageRoot, 'data/feeds')).map(({ id }) => id)
    const switches = Object.keys((JSON.parse(json![1]!) as Switches).build.feeds)
    expect(switches).toEqual(['vpn-x4b', 'tor-exits-x4b'])
    expect(catalogue).toEqual(expect.arrayContaining(switches))
    expect(others).toMatch(/sources cannot be disabled: table-crawlers, neighbours-vpn\.$/)
    expect(lines([source('table-crawlers', 'bot', 'Apache-2.0', true)]).slice(2)).toEqual([
      'Add their licences to --licences.',
      'Built-in and computed sources cannot be disabled: table-crawlers.',
    ])
  })

  it('may be allowed by a list or by a file', () => {
    expect(readLicences('MIT, CC0-1.0')).toEqual(['MIT', 'CC0-1.0'])
    const file = join(newFolder(), 'licences')
    writeFileSync(file, '# of ours\nMIT\n\ndata by AWS; repo source code MIT  # asked\n')
    expect(readLicences(file)).toEqual(['MIT', 'data by AWS; repo source code MIT'])
    for (const missing of [`${file}.none`, 'licences.txt', './none']) {
      expect(() => readLicences(missing)).toThrow(/^The licence file \S+ cannot be read: ENOENT/)
    }
    for (const name of ['CC-BY-4.0', 'GPL-3.0', 'MIT (repo); data bgp.tools']) {
      expect(readLicences(name)).toEqual([name])
    }
  })
})

describe('an export', () => {
  const path = join(newFolder(), 'table.iprisk')
  writeTable(path, { ...smallContent(), sources: [...smallContent().sources, ...sources] })
  const table = openTable(path)
  const noticeOf = async (wishes: Partial<ExportWishes>): Promise<string> => {
    const done = await exported({ format: 'mmdb', ...wishes }, table)
    return readFileSync(`${done.path}.NOTICE`, 'utf8')
  }

  it('has a NOTICE that names every source of what is in it, by licence', async () => {
    const whole = await noticeOf({})
    for (const { id } of table.sources) expect(whole).toContain(`  ${id}, 2026-08-22`)
    expect(whole).toMatch(
      /\n\nNo licence is stated\n {2}vpn-list, 2026-08-22: The makers of vpn-list/,
    )
    expect(whole).toContain(table.id)
    const city = await noticeOf({ layout: 'city' })
    expect(city).toContain('  places, ')
    expect(city).not.toContain('vpn-list')
    // What a condition reads is in it, too.
    expect(await noticeOf({ layout: 'city', where: 'signals.vpn' })).toContain('vpn-list')
  })

  it('is not begun where a licence is refused', async () => {
    const wishes = { format: 'mmdb', licences: ['CC-BY-4.0'] } as const
    await expect(exported(wishes, table)).rejects.toMatchObject({ code: 'licence_refused' })
    await expect(exported({ ...wishes, layout: 'city' }, table)).resolves.toMatchObject({
      sources: 2,
    })
  })
})
