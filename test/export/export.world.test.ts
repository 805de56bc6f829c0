// Exports of the world, read back by the programs that they are made for: npm maxmind,
// libmaxminddb, python3-geoip2, DuckDB, nginx, HAProxy, nft and ipset. Each says of 200,000
// addresses (of some thousands, where each costs a request) what `check` says. `npm run prove --
// exports --long` leaves out nothing; otherwise what takes longest (layouts iprisk and city, CSV,
// Parquet) has the addresses that are not clean alone, and Python and the firewalls are asked for
// some.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AddressNotFoundError, Reader as GeoIp2 } from '@maxmind/geoip2-node'
import { Reader, type Response } from 'mmdb-lib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDuckDb, sqlQuote } from '../../build/history/duckdb.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { newFolder } from '../build/fetch/site.ts'
import { describeWith } from '../deploy/need.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'
import {
  anonymousIpOf,
  anonymousPlusOf,
  asnOf,
  cityOf,
  countryOf,
  fullOf,
  residentialProxyOf,
} from './database-answers.ts'
import { askHaproxy, askNginx } from './map-readers.ts'
import { checked, isIpv4Space } from './small-export.ts'
import { type WorldExport, exportWorld, worldAddresses } from './world-export.ts'

const here = join(packageRoot, 'test/export')
const ipsOf = (asked: readonly Asked[]): readonly string[] => asked.map(({ ip }) => ip)
const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`

interface Asked {
  readonly ip: string
  readonly answer: CheckAnswer
}

/** What is said otherwise than expected, the first of it. */
function differences(
  asked: readonly Asked[],
  said: (ip: string, index: number) => unknown,
  expected: (answer: CheckAnswer) => unknown,
): readonly unknown[] {
  const found: unknown[] = []
  for (const [index, { ip, answer }] of asked.entries()) {
    const want = expected(answer)
    const got = said(ip, index)
    // The order of members does not count, but is nearly always the same, and texts compare faster.
    if (JSON.stringify(got) !== JSON.stringify(want) && !isDeepStrictEqual(got, want))
      found.push({ ip, got, want })
    if (found.length === 3) break
  }
  return found
}

/** `npm run prove -- exports --long`. */
const isWhole = process.env['IPRISK_TEST_LONG'] === '1'
const partly = isWhole ? [] : ['--where', 'classification != "clean"']
const isThere = ({ classification }: CheckAnswer): boolean => isWhole || classification !== 'clean'

describeFeeds('exports of the world', () => {
  let path: string
  let table: OpenTable
  let asked: readonly Asked[]
  const databases: Record<string, WorldExport> = {}
  const layouts = [
    'iprisk',
    'anonymous-ip',
    'anonymous-plus',
    'residential-proxy',
    'country',
    'city',
    'asn',
  ] as const
  const condition = 'signals.tor || risk_score >= 75'
  const isIn = ({ signals, risk_score }: CheckAnswer): boolean => signals.tor || risk_score >= 75
  let risky: WorldExport
  /** Addresses of which half are in the sets. */
  let few: readonly Asked[]

  beforeAll(async () => {
    // The day that has residential proxies.
    path = await worldTable('2025-11-22')
    table = openTable(path)
    const ask = (ip: string): Asked => ({ ip, answer: checked(ip, table) })
    asked = worldAddresses(table).map(ask)
    risky = await exportWorld(path, 'risky.geo', ['--format', 'nginx', '--where', condition])
    const listed = [...readFileSync(risky.out, 'utf8').matchAll(/^([\d.a-f:]+)\//gm)]
    const inSets = listed.map(([, ip = '']) => ip).filter((ip) => !isIpv4Space(ip))
    few = [...inSets.map(ask), ...asked.filter((_one, index) => index % 100 === 0)]
    for (const layout of layouts) {
      const part = layout === 'country' || layout === 'city' || layout === 'iprisk' ? partly : []
      const options = ['--format', 'mmdb', '--layout', layout, ...part]
      databases[layout] = await exportWorld(path, `${layout}.mmdb`, options)
    }
  })
  afterAll(() => table?.close())

  it('has addresses enough', () => {
    expect(asked.length).toBeGreaterThan(195_000)
    expect(asked.filter(({ ip }) => ip.includes(':')).length).toBeGreaterThan(90_000)
    expect(asked.filter(({ answer }) => isThere(answer)).length).toBeGreaterThan(1000)
    const inSets = few.filter(({ answer }) => isIn(answer)).length
    expect(inSets).toBeGreaterThan(1000)
    expect(few.length - inSets).toBeGreaterThan(1000)
  })

  it.each([
    ['iprisk', (answer: CheckAnswer) => (isThere(answer) ? fullOf(answer) : null)],
    ['anonymous-ip', anonymousIpOf],
    ['anonymous-plus', anonymousPlusOf],
    ['residential-proxy', residentialProxyOf],
    ['country', (answer: CheckAnswer) => (isThere(answer) ? countryOf(answer) : null)],
    ['city', (answer: CheckAnswer) => (isThere(answer) ? cityOf(answer) : null)],
    ['asn', asnOf],
  ] as const)('npm maxmind reads of the layout %s what check says', (layout, expected) => {
    const reader = new Reader<Response>(readFileSync(databases[layout]!.out))
    expect(differences(asked, (ip) => reader.get(ip), expected)).toEqual([])
  })

  it('libmaxminddb does', () => {
    const program = join(newFolder(), 'mmdb-values')
    execFileSync('gcc', ['-O2', '-o', program, join(here, 'mmdb-values.c'), '-lmaxminddb'])
    const members = [
      'classification',
      'risk_score',
      'network/asn',
      'network/organization',
      'location/country_code',
      'location/latitude',
      'signals/tor',
      'proxy/provider',
      'reasons/0',
    ]
    const input = lines(ipsOf(asked))
    const said = execFileSync(program, [databases['iprisk']!.out, ...members], {
      input,
      maxBuffer: 1 << 28,
      encoding: 'utf8',
    })
    const rows = said.trimEnd().split('\n')
    const expected = (answer: CheckAnswer): string => {
      if (!isThere(answer)) return [answer.ip, ...members.map(() => '-')].join('\t')
      const { classification, risk_score, network, location, signals, proxy, reasons } = answer
      return [
        answer.ip,
        classification,
        risk_score,
        network?.asn ?? '-',
        network?.organization ?? '-',
        location?.country_code ?? '-',
        location?.latitude.toFixed(4) ?? '-',
        signals.tor,
        proxy?.provider ?? '-',
        reasons[0] ?? '-',
      ].join('\t')
    }
    expect(differences(asked, (_ip, index) => rows[index], expected)).toEqual([])
    // The program of its package, on one address of each layout.
    const lookUp = (layout: string, ip: string, ...path: readonly string[]): string => {
      const args = ['--file', databases[layout]!.out, '--ip', ip, ...path]
      return execFileSync('mmdblookup', args, { encoding: 'utf8' }).trim()
    }
    expect(lookUp('asn', '8.8.8.8', 'autonomous_system_number')).toBe('15169 <uint32>')
    const { ip, answer } = asked.find((one) => residentialProxyOf(one.answer) !== null)!
    const { last_seen_at, confidence } = answer.proxy!
    for (const layout of ['anonymous-plus', 'residential-proxy']) {
      expect(lookUp(layout, ip, 'network_last_seen')).toBe(`"${last_seen_at}" <utf8_string>`)
      const value = { low: 30, medium: 50, high: 99 }[confidence]
      expect(lookUp(layout, ip, 'anonymizer_confidence')).toBe(`${value} <uint16>`)
    }
    const placed = asked.find((one) => isThere(one.answer) && one.answer.location?.country_code)!
    const code = placed.answer.location!.country_code
    expect(lookUp('country', placed.ip, 'country', 'iso_code')).toBe(`"${code}" <utf8_string>`)
  })

  it('@maxmind/geoip2-node does, of the layouts that it knows', async () => {
    const [country, plus] = [
      await GeoIp2.open(databases['country']!.out),
      await GeoIp2.open(databases['anonymous-plus']!.out),
    ]
    const found = <Model>(ask: () => Model): Model | undefined => {
      try {
        return ask()
      } catch (error) {
        if (error instanceof AddressNotFoundError) return undefined
        throw error
      }
    }
    const said = (ip: string): unknown => {
      const place = found(() => country.country(ip))
      const anonymous = found(() => plus.anonymousPlus(ip))
      return [
        place?.country?.isoCode,
        place?.continent?.code,
        anonymous?.isTorExitNode,
        anonymous?.anonymizerConfidence,
        anonymous?.networkLastSeen,
        anonymous?.providerName,
      ]
    }
    const expected = (answer: CheckAnswer): unknown => {
      const place = isThere(answer) ? answer.location : null
      const record = anonymousPlusOf(answer)
      return [
        place?.country_code || undefined,
        place?.continent_code || undefined,
        record === null ? undefined : answer.signals.tor,
        record?.['anonymizer_confidence'],
        record?.['network_last_seen'],
        record?.['provider_name'],
      ]
    }
    // It throws for an address that is not there, which takes its time.
    const some = asked.filter((_one, index) => isWhole || index % 8 === 0)
    expect(differences(some, said, expected)).toEqual([])
  })

  it('python3-geoip2 does, of the layouts of MaxMind', () => {
    const read6 = ['anonymous-ip', 'city', 'asn', 'country', 'anonymous-plus', 'residential-proxy']
    const files = read6.map((layout) => databases[layout]!.out)
    const script = join(here, 'geoip2-values.py')
    const some = asked.filter((_one, index) => isWhole || index % 4 === 0)
    const said = execFileSync('/usr/bin/python3', [script, ...files], {
      input: lines(ipsOf(some)),
      maxBuffer: 1 << 28,
      encoding: 'utf8',
    })
    const rows = said.trimEnd().split('\n')
    const text = (value: string): string | null => (value === '' ? null : value)
    const expected = (answer: CheckAnswer): unknown => {
      const { vpn, hosting, proxy, residential_proxy, tor } = answer.signals
      const { network, location } = answer
      const any = vpn || hosting || proxy || residential_proxy || tor
      return [
        any ? [any, vpn, hosting, proxy, residential_proxy, tor] : null,
        location === null || !isThere(answer)
          ? null
          : [
              text(location.country_code),
              text(location.continent_code),
              text(location.state),
              text(location.city),
              text(location.zip),
              location.latitude,
              location.longitude,
              text(location.timezone),
            ],
        network === null ? null : [network.asn, text(network.organization)],
        location === null || !isThere(answer)
          ? null
          : [text(location.country_code), text(location.continent_code)],
        anonymousPlusOf(answer),
        residentialProxyOf(answer),
      ]
    }
    const read = (_ip: string, index: number): unknown => JSON.parse(rows[index] ?? 'null')
    expect(differences(some, read, expected)).toEqual([])
  })

  it('DuckDB does, of CSV and of Parquet', async () => {
    const fields = ['classification', 'risk_score', 'asn', 'country_code']
    const options = ['--fields', fields.join(',')]
    const csv = await exportWorld(path, 'world.csv', ['--format', 'csv', ...options, ...partly])
    const how = ['--format', 'parquet', ...options, ...partly]
    const parquet = await exportWorld(path, 'world.parquet', how)
    const duck = await openDuckDb({ spill: newFolder() })
    try {
      const [counts] = await duck.all(
        `select (select count(*) from ${sqlQuote(csv.out)}), count(*), ` +
          `count(*) filter (first_hex > last_hex) from ${sqlQuote(parquet.out)}`,
      )
      expect(counts?.map(Number)).toEqual([csv.rows, parquet.rows, 0])
      // The ranges of both are the same, with the same fields.
      const cells = ['first', 'last', ...fields]
        .map((field) => `coalesce(${field}::varchar, '')`)
        .join(', ')
      const inCsv = `select ${cells} from read_csv(${sqlQuote(csv.out)}, all_varchar = true)`
      const inParquet = `select ${cells} from ${sqlQuote(parquet.out)}`
      const [others] = await duck.all(
        `select (select count(*) from (${inCsv} except ${inParquet})), ` +
          `(select count(*) from (${inParquet} except ${inCsv}))`,
      )
      expect(others?.map(Number)).toEqual([0, 0])
      const file = join(newFolder(), 'asked.csv')
      const rowOf = ({ ip }: Asked): string => `${ip},${ip.includes(':') ? 6 : 4},${hexOf(ip)}`
      writeFileSync(file, lines(asked.map(rowOf)))
      const columns = "{'ip': 'varchar', 'family': 'utinyint', 'hex': 'varchar'}"
      const read = `read_csv(${sqlQuote(file)}, header = false, columns = ${columns})`
      await duck.run(`create temp table asked as from ${read}`)
      const found = await duck.all(
        `select a.ip, r.${fields.join(', r.')} from asked a asof join ${sqlQuote(parquet.out)} r ` +
          'on a.family = r.family and a.hex >= r.first_hex where a.hex <= r.last_hex',
      )
      const rows = new Map(found.map(([ip, ...said]) => [ip, said]))
      const expected = (answer: CheckAnswer): unknown => {
        const { classification, risk_score, network, location } = answer
        if (!isThere(answer)) return undefined
        return [classification, risk_score, network?.asn ?? null, location?.country_code ?? '']
      }
      expect(differences(asked, (ip) => rows.get(ip), expected)).toEqual([])
    } finally {
      await duck.close()
    }
  })

  describeWith('nginx', ['-v'], () => {
    it('answers by its geo block what check says', async () => {
      const said = await askNginx(risky.out, ipsOf(few))
      const expected = (answer: CheckAnswer): string =>
        isIn(answer) ? answer.classification : 'none'
      expect(differences(few, (ip) => said.get(ip), expected)).toEqual([])
    })
  })

  describeWith('haproxy', ['-v'], () => {
    it('answers by its map what check says', async () => {
      const options = ['--format', 'haproxy', '--fields', 'risk_score', '--where', condition]
      const { out } = await exportWorld(path, 'risky.map', options)
      const said = await askHaproxy(out, ipsOf(few))
      const expected = (answer: CheckAnswer): string =>
        isIn(answer) ? String(answer.risk_score) : 'none'
      expect(differences(few, (ip) => said.get(ip), expected)).toEqual([])
    })
  })

  /** In a network namespace of its own: no rule of this machine is touched. */
  const inNamespace = (script: string, input: string): string => {
    const { status, stdout, stderr } = spawnSync('unshare', ['-n', 'bash', '-c', script], {
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    expect([status, stderr.slice(0, 400)]).toEqual([0, ''])
    return stdout
  }

  describeWith('nft', ['--version'], () => {
    it('holds by its sets the addresses for which the condition is true', async () => {
      const { out } = await exportWorld(path, 'risky.nft', [
        '--format',
        'nft',
        '--where',
        condition,
      ])
      // Checked, loaded, and loaded again, as tomorrow's file will be.
      const load = `nft -c -f ${out} && nft -f ${out} && nft -f ${out}`
      const ask =
        'while read -r ip; do set=iprisk4; [[ $ip == *:* ]] && set=iprisk6; ' +
        'nft get element inet iprisk $set "{ $ip }" >/dev/null 2>&1 && echo "$ip"; done; true'
      const some = few.filter((_one, index) => isWhole || index % 48 === 0)
      const held = new Set(
        inNamespace(`${load}; ${ask}`, lines(ipsOf(some)))
          .trimEnd()
          .split('\n'),
      )
      expect(differences(some, (ip) => held.has(ip), isIn)).toEqual([])
    })
  })

  describeWith('ipset', ['--version'], () => {
    it('holds by its sets the addresses for which the condition is true', async () => {
      const { out } = await exportWorld(path, 'risky.ipset', [
        '--format',
        'ipset',
        '--where',
        condition,
      ])
      const ask =
        'while read -r ip; do set=iprisk4; [[ $ip == *:* ]] && set=iprisk6; ' +
        'ipset -q test $set $ip && echo "$ip"; done; true'
      const script = `ipset restore < ${out} && ipset restore < ${out}; ${ask}`
      const some = few.filter((_one, index) => isWhole || index % 12 === 0)
      const held = new Set(
        inNamespace(script, lines(ipsOf(some)))
          .trimEnd()
          .split('\n'),
      )
      expect(differences(some, (ip) => held.has(ip), isIn)).toEqual([])
    })
  })
})

/** As `first_hex` has it. */
function hexOf(ip: string): string {
  if (!ip.includes(':')) {
    return ip
      .split('.')
      .map((octet) => Number(octet).toString(16).padStart(2, '0'))
      .join('')
  }
  const [head = '', tail] = ip.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('')
}
