// The hand-kept tables: what a bad one is told, and whether the real ones agree with the AS data.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  defaultRangeFiles,
  readAsRanges,
  type AsRanges,
} from '../../../build/networks/asn-ranges.ts'
import {
  asTables,
  networkTablesFolder,
  loadNetworkTables,
} from '../../../build/networks/network-tables.ts'
import { formatRange, rangeToPrefixes, type Range } from '../../../src/ip/range.ts'
import { lookup } from '../mmdb/mmdb-lookup.ts'

describe('a bad table', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'iprisk-tables-'))
    cpSync(networkTablesFolder, folder, { recursive: true })
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const asHead = '# What, from where.\nasn,name,note\n'
  const prefixHead = '# What, from where.\nprefix,name,note\n'
  const crawlerHead = '# What, from where.\nprefix,provider,category,source,day\n'
  const cases: readonly (readonly [table: string, text: string, problem: string])[] = [
    ['hosting', `${asHead}x,Name,\n`, 'hosting.csv:3: "x" is no AS number'],
    ['hosting', `${asHead}0,Name,\n`, 'hosting.csv:3: "0" is no AS number'],
    ['hosting', `${asHead}4294967296,Name,\n`, '"4294967296" is no AS number'],
    ['hosting', `${asHead}64500,,\n`, 'hosting.csv:3: AS64500 has no name'],
    ['hosting', `${asHead}64500,A\n64500,B\n`, 'hosting.csv:4: AS64500 is already in hosting.csv'],
    ['mobile', `${asHead}16276,OVH\n`, 'mobile.csv:3: AS16276 is already in hosting.csv'],
    ['hosting', `${asHead}64500,A,b,c\n`, 'hosting.csv:3: 4 fields, not 3'],
    ['hosting', `${asHead}64500,"A\n`, 'hosting.csv:3: broken quotes'],
    [
      'hosting',
      '# c\nasn,label\n',
      'hosting.csv:2: the header is "asn,label", not "asn,name,note"',
    ],
    ['hosting', '# c\n', 'hosting.csv: no header'],
    ['hosting', 'asn,name,note\n64500,A\n', 'hosting.csv: no comment'],
    ['resolvers', `${prefixHead}1.1.1.0/33,X,\n`, 'resolvers.csv:3: "1.1.1.0/33" is no prefix'],
    ['resolvers', `${prefixHead}1.1.1.1,X,\n`, 'resolvers.csv:3: "1.1.1.1" is no prefix'],
    ['resolvers', `${prefixHead}1.1.1.1/24,X,\n`, 'resolvers.csv:3: 1.1.1.1/24 has host bits set'],
    ['resolvers', `${prefixHead}1.1.1.0/24,X\n1.1.1.0/24,Y\n`, '1.1.1.0/24 is there twice'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,spider,https://x,2026-08-22\n`, 'no bot category'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,http://x,2026-08-22\n`, 'is no https URL'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,https://x,2026-02-30\n`, 'is no day'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,https://x\n`, '4 fields, not 5'],
    [
      'access',
      asHead + Array.from({ length: 501 }, (_, i) => `${100_000_000 + i},X\n`).join(''),
      '501 rows; at most 500',
    ],
  ]
  for (const [table, text, problem] of cases) {
    it(`${table}: ${problem}`, () => {
      writeFileSync(join(folder, `${table}.csv`), text)
      expect(() => loadNetworkTables(folder)).toThrow(
        expect.objectContaining({ code: 'tables_invalid' }),
      )
      expect(() => loadNetworkTables(folder)).toThrow(problem)
    })
  }

  it('has all its problems said at once, and those of the others', () => {
    writeFileSync(join(folder, 'hosting.csv'), `${asHead}x,A,\ny,B,\n`)
    rmSync(join(folder, 'cdn.csv'))
    expect(() => loadNetworkTables(folder)).toThrow(
      /hosting\.csv:3(.|\n)*hosting\.csv:4(.|\n)*cdn\.csv/,
    )
  })

  it('may quote fields and leave the note out', () => {
    const text = `${asHead}64500,"A, ""B"" Ltd"\n\n# more\n64501, C , d \n`
    writeFileSync(join(folder, 'satellite.csv'), text)
    expect(loadNetworkTables(folder).rows('satellite')).toEqual([
      { asn: 64500, name: 'A, "B" Ltd', note: '' },
      { asn: 64501, name: 'C', note: 'd' },
    ])
  })
})

/** Names that share no word with the registered organization, each with the reason. */
const otherNames: ReadonlyMap<number, string> = new Map([
  [719, 'the range file names the registry (RIPE NCC) in place of Elisa'],
  [14593, 'Space Exploration Technologies Corporation is the company behind Starlink'],
  [29447, 'the range file names the sister company Scaleway in place of Iliad Italia'],
  [42912, 'the range file has the Arabic name of Zain Jordan in Latin letters'],
])

/** Letters and digits of a name as words, without accents and case. */
function wordsOf(name: string): readonly string[] {
  return name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

/** One word of three letters or more in common, or the organization whole at the beginning. */
function fits(name: string, organization: string): boolean {
  const written = wordsOf(organization).join('')
  const words = wordsOf(name)
  const shared = words.some((word) => word.length >= 3 && written.includes(word))
  return shared || (written !== '' && words.join('').startsWith(written))
}

describe('the tables in data/tables', () => {
  const tables = loadNetworkTables()
  let ranges: AsRanges
  beforeAll(async () => {
    ranges = await readAsRanges(defaultRangeFiles())
  })

  for (const table of asTables) {
    it(`${table}: every AS is announced, under a name that fits`, () => {
      const odd: string[] = []
      for (const { asn, name } of tables.rows(table)) {
        const organization = ranges.organizations.get(asn)
        if (organization === undefined) odd.push(`AS${asn} ${name}: absent`)
        else if (!fits(name, organization) && !otherNames.has(asn)) {
          odd.push(`AS${asn} ${name}: ${organization}`)
        }
      }
      expect(odd).toEqual([])
      expect(tables.rows(table).length).toBeGreaterThan(20)
    })

    it(`${table}: rows ascend by AS number and the comment names a source`, () => {
      const asns = tables.rows(table).map((row) => row.asn)
      expect(asns).toEqual(asns.toSorted((a, b) => a - b))
      const text = readFileSync(join(networkTablesFolder, `${table}.csv`), 'utf8')
      expect(text).toMatch(/^#.*Sources?, \d{4}-\d{2}-\d{2}: /m)
    })
  }

  it('has no exception that is not needed', () => {
    for (const asn of otherNames.keys()) {
      const named = tables.asRow(asn)
      expect(named, `AS${asn}`).toBeDefined()
      const organization = ranges.organizations.get(asn) ?? ''
      expect(fits(named!.row.name, organization), `AS${asn}`).toBe(false)
    }
  })

  const originOf = (range: Range): number => {
    const [first] = rangeToPrefixes({ ...range, last: range.first })
    return lookup(ranges.layers[range.family], first!.split('/')[0]!)
  }

  it('mobile prefixes lie in the AS of the operator', () => {
    const origins = tables.mobilePrefixes.map(({ range }) => [formatRange(range), originOf(range)])
    expect(origins).toEqual([
      ['80.187.0.0/16', 3320],
      ['82.113.96.0/19', 6805],
      ['82.132.128.0/17', expect.toBeOneOf([35228, 29180])],
      ['92.184.96.0/19', 3215],
      ['109.40.0.0/13', 3209],
      ['213.205.192.0/18', 2856],
    ])
  })

  it('corporate prefixes and resolvers are announced, or parts of them', () => {
    const all = [...tables.corporatePrefixes, ...tables.resolvers]
    const silent = all.filter(({ range }) => {
      const { family, last } = range
      const lastOrigin = originOf({ family, first: last, last })
      const middle = range.first + (last - range.first) / 2n
      return [originOf(range), originOf({ family, first: middle, last }), lastOrigin].every(
        (asn) => asn === 0,
      )
    })
    expect(silent.map(({ range }) => formatRange(range))).toEqual([])
    expect(all.length).toBeGreaterThan(50)
  })

  it('crawlers lie in networks where their operators have servers', () => {
    const homes: Readonly<Record<string, readonly number[]>> = {
      Googlebot: [15169],
      'Google special crawlers': [15169],
      Bingbot: [8075],
      Applebot: [714],
      OpenAI: [8075],
      ClaudeBot: [16509],
      PerplexityBot: [14618, 16509],
      CCBot: [14618, 16509],
    }
    for (const { range, provider } of tables.crawlers) {
      expect(homes[provider], `${provider} ${formatRange(range)}`).toContain(originOf(range))
    }
  })
})
