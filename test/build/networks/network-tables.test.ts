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
  type VpnOperatorRow,
} from '../../../build/networks/network-tables.ts'
import { formatRange, type Range } from '../../../src/ip/range.ts'
import { rangeToPrefixes } from '../../ip/addresses.ts'
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
  const torHead = '# What, from where.\nprefix,asn,name,source,day\n'
  const vpnHead = '# What, from where.\nspace,owner,name,source,day\n'
  const mobileHead = '# What, from where.\nasn,name,country,source,day,note\n'
  const mobilePrefixHead = '# What, from where.\nprefix,name,country,source,day,note\n'
  const cases: readonly (readonly [table: string, text: string, problem: string])[] = [
    ['hosting', `${asHead}x,Name,\n`, 'hosting.csv:3: "x" is not an AS number'],
    ['hosting', `${asHead}0,Name,\n`, 'hosting.csv:3: "0" is not an AS number'],
    ['hosting', `${asHead}4294967296,Name,\n`, '"4294967296" is not an AS number'],
    ['hosting', `${asHead}64500,,\n`, 'hosting.csv:3: AS64500 has no name'],
    ['hosting', `${asHead}64500,A\n64500,B\n`, 'hosting.csv:4: AS64500 is already in hosting.csv'],
    [
      'mobile',
      `${mobileHead}16276,OVH,FR,https://a,2026-08-22\n`,
      'mobile.csv:3: AS16276 is already in hosting.csv',
    ],
    [
      'mobile',
      `${mobileHead}64500,A,fr,https://a,2026-08-22\n`,
      '"fr" is not a two-letter country',
    ],
    ['mobile', `${mobileHead}64500,A,FR,http://a,2026-08-22\n`, '"http://a" is not an https URL'],
    ['mobile', `${mobileHead}64500,A,FR,https://a,2026-8-22\n`, '"2026-8-22" is not a day'],
    ['mobile', `${mobileHead}64500,A,FR,https://a\n`, '4 fields, not 6'],
    ['mobile', `${asHead}64500,A\n`, 'the header is "asn,name,note"'],
    [
      'mobile-prefixes',
      `${mobilePrefixHead}9.0.0.0/24,A,FR,x,2026-08-22\n`,
      '"x" is not an https URL',
    ],
    ['mobile-prefixes', `${mobilePrefixHead}9.0.0.0/24,,FR,https://a,2026-08-22\n`, 'has no name'],
    ['hosting', `${asHead}64500,A,b,c\n`, 'hosting.csv:3: 4 fields, not 3'],
    ['hosting', `${asHead}64500,"A\n`, 'hosting.csv:3: broken quotes'],
    [
      'hosting',
      '# c\nasn,label\n',
      'hosting.csv:2: the header is "asn,label", not "asn,name,note"',
    ],
    ['hosting', '# c\n', 'hosting.csv: no header'],
    ['hosting', 'asn,name,note\n64500,A\n', 'hosting.csv: no comment'],
    ['resolvers', `${prefixHead}1.1.1.0/33,X,\n`, 'resolvers.csv:3: "1.1.1.0/33" is not a prefix'],
    ['resolvers', `${prefixHead}1.1.1.1,X,\n`, 'resolvers.csv:3: "1.1.1.1" is not a prefix'],
    ['resolvers', `${prefixHead}1.1.1.1/24,X,\n`, 'resolvers.csv:3: 1.1.1.1/24 has host bits set'],
    ['resolvers', `${prefixHead}1.1.1.0/24,X\n1.1.1.0/24,Y\n`, '1.1.1.0/24 appears twice'],
    ['infrastructure', vpnHead, 'the header is "space,owner,name,source,day"'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,spider,https://x,2026-08-22\n`, 'not a bot category'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,http://x,2026-08-22\n`, 'is not an https URL'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,https://x,2026-02-30\n`, 'is not a day'],
    ['crawlers', `${crawlerHead}1.1.1.0/24,X,ai_tool,https://x\n`, '4 fields, not 5'],
    ['tor-operators', `${torHead}9.0.0.0/24,x,A,https://a,2026-08-22\n`, '"x" is not an AS number'],
    ['tor-operators', `${torHead}9.0.0.0/24,1,A,a,2026-08-22\n`, '"a" is not an https URL'],
    ['tor-operators', `${torHead}9.0.0.0/24,1,,https://a,2026-08-22\n`, 'csv:3: no name'],
    ['tor-operators', `${torHead}9.0.0.1/24,1,A,https://a,2026-08-22\n`, 'has host bits set'],
    ['hosting-prefixes', `${torHead}9.0.0.1/24,1,A,https://a,2026-08-22\n`, 'has host bits set'],
    ['hosting-prefixes', `${torHead}9.0.0.0/24,1,A,a,2026-08-22\n`, '"a" is not an https URL'],
    [
      'hosting-prefixes',
      `${torHead}9.0.0.0/24,1,A,https://a,2026-08-22\n9.0.0.0/24,2,B,https://a,2026-08-22\n`,
      'csv:4: 9.0.0.0/24 appears twice',
    ],
    ['vpn-operators', `${vpnHead}ASx,A,B,https://a,2026-08-22\n`, '"ASx" is not a prefix'],
    ['vpn-operators', `${vpnHead}AS0,A,B,https://a,2026-08-22\n`, '"0" is not an AS number'],
    ['vpn-operators', `${vpnHead}AS1x,A,B,https://a,2026-08-22\n`, '"1x" is not an AS number'],
    ['vpn-operators', `${vpnHead}9.0.0.1/24,A,B,https://a,2026-08-22\n`, 'has host bits set'],
    ['vpn-operators', `${vpnHead}AS1,,B,https://a,2026-08-22\n`, 'csv:3: no owner'],
    ['vpn-operators', `${vpnHead}AS1,A,,https://a,2026-08-22\n`, 'csv:3: no name'],
    ['vpn-operators', `${vpnHead}AS1,A,B,a,2026-08-22\n`, '"a" is not an https URL'],
    ['vpn-operators', `${vpnHead}AS1,A,B,https://a,22.8.2026\n`, '"22.8.2026" is not a day'],
    ['vpn-operators', `${vpnHead}AS1,A,B,https://a\n`, '4 fields, not 5'],
    [
      'vpn-operators',
      `${vpnHead}AS1,A,B,https://a,2026-08-22\nAS1,A,B,https://a,2026-08-22\n`,
      'csv:4: AS1 appears twice',
    ],
    [
      'vpn-operators',
      vpnHead +
        Array.from({ length: 1001 }, (_, i) => `AS${i + 1},A,B,https://a,2026-08-22\n`).join(''),
      '1001 rows; at most 1000',
    ],
    [
      'access',
      asHead + Array.from({ length: 1001 }, (_, i) => `${100_000_000 + i},X\n`).join(''),
      '1001 rows; at most 1000',
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

  /** The last address of a range, and sixteen spread over it. */
  const samplesOf = ({ family, first, last }: Range): readonly Range[] => {
    const size = (last - first) / 16n
    const points = Array.from({ length: 16 }, (_, i) => first + size * BigInt(i))
    return [...points, last].map((at) => ({ family, first: at, last }))
  }

  /** ASes that announce prefixes of mobile subscribers; China Mobile's by its provinces' ASes. */
  const carriers: Readonly<Record<string, readonly (number | string)[]>> = {
    'Telekom Deutschland mobile': [3320],
    'Telefonica Germany (o2) mobile': [6805],
    'O2 UK mobile': [35228, 29180],
    'Orange France mobile': [3215],
    'Vodafone Germany mobile': [3209],
    'EE mobile': [2856],
    'KDDI au': [2516],
    'SoftBank mobile': [17676],
    'China Mobile 5G': ['china mobile'],
    'China Mobile mobile data': ['china mobile'],
    'China Unicom mobile data': ['china unicom'],
  }
  it('mobile prefixes are announced by their operator, and by nobody else', () => {
    const isOwn = (name: string, asn: number): boolean => {
      const organization = ranges.organizations.get(asn)?.toLowerCase() ?? ''
      return (carriers[name] ?? []).some((one) =>
        typeof one === 'number' ? one === asn : organization.includes(one),
      )
    }
    const odd = tables.mobilePrefixes.filter(({ range, name }) => {
      const origins = samplesOf(range).map(originOf)
      const announced = origins.filter((asn) => asn !== 0)
      // Of an IPv6 prefix the larger part may wait to be announced.
      const isWhole = range.family === 6 || announced.length === origins.length
      return announced.length === 0 || !isWhole || !announced.every((asn) => isOwn(name, asn))
    })
    expect(odd.map(({ range, name }) => `${formatRange(range)} ${name}`)).toEqual([])
  })

  it('mobile carriers are of sixty countries and more, each row with its source and day', () => {
    expect(tables.mobile.length + tables.mobilePrefixes.length).toBeGreaterThanOrEqual(150)
    expect(new Set(tables.mobile.map(({ country }) => country)).size).toBeGreaterThanOrEqual(60)
    expect(tables.mobile).toHaveLength(tables.rows('mobile').length)
    for (const { source, day, name } of [...tables.mobile, ...tables.mobilePrefixes]) {
      expect(source, name).toMatch(/^https:\/\//)
      expect(day, name).toBeGreaterThan(20_000)
    }
  })

  it('VPN operators announce what is theirs under a name that fits', () => {
    const organizationsOf = (row: VpnOperatorRow): readonly (string | undefined)[] =>
      row.range === undefined
        ? [ranges.organizations.get(row.asn ?? 0)]
        : samplesOf(row.range)
            .map(originOf)
            .filter((asn) => asn !== 0)
            .map((asn) => ranges.organizations.get(asn))
    const simple = (text: string): string => wordsOf(text).join('')
    const odd = tables.vpnOperators.filter((row) => {
      const names = organizationsOf(row)
      const isOwners = (name = ''): boolean => simple(name).includes(simple(row.owner))
      return names.length === 0 || !names.every(isOwners)
    })
    expect(odd).toEqual([])
    expect(tables.vpnOperators.length).toBeGreaterThanOrEqual(20)
    expect(tables.vpnOperators.length).toBeLessThanOrEqual(500)
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

  it('Tor operators’ prefixes are announced by their owners, all of each', () => {
    const odd = tables.torOperators.flatMap(({ range, asn }) =>
      samplesOf(range).every((at) => originOf(at) === asn) ? [] : [formatRange(range)],
    )
    expect(odd).toEqual([])
    expect(tables.torOperators.length).toBeGreaterThan(10)
  })

  it('prefixes that rent servers are announced, all of each, by networks that are no hosters', () => {
    const odd = tables.hostingPrefixes.flatMap(({ range, asn, name }) => {
      const isWhole = samplesOf(range).every((at) => originOf(at) === asn)
      const organization = ranges.organizations.get(asn) ?? ''
      const isHoster = tables.asRow(asn)?.table === 'hosting'
      return isWhole && fits(name, organization) && !isHoster ? [] : [formatRange(range)]
    })
    expect(odd).toEqual([])
    expect(tables.hostingPrefixes.length).toBeGreaterThan(50)
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
