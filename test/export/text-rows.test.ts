// The text formats of the small table, read back by a slow reader of each form: for every address
// the one row that holds it says what `check` says, and no row is missing.

import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import type { ExportFormat } from '../../src/config/export-formats.ts'
import { type Range, parseRange, wordsToBigint } from '../../src/ip/range.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { checked, exported, isLeftOut, sampleAddresses } from './small-export.ts'

const addresses = sampleAddresses(200).filter((ip) => !isLeftOut(ip))
const words = new Uint32Array(4)

interface Row {
  readonly range: Range
  readonly text: string
}

/** The texts of all rows that hold the address. */
function found(rows: readonly Row[], ip: string): readonly string[] {
  const family = parseAddress(ip, words) as 4 | 6
  const value = wordsToBigint(family, words)
  return rows
    .filter(({ range }) => range.family === family && range.first <= value && value <= range.last)
    .map(({ text }) => text)
}

async function textOf(format: ExportFormat, wishes: object): Promise<string> {
  return readFileSync((await exported({ format, ...wishes })).path, 'utf8')
}

const rowOf = (range: string, text: string): Row => {
  const parsed = parseRange(range)
  if (parsed === undefined) throw new Error(`${range} is no range`)
  return { range: parsed, text }
}

const condition = 'signals.tor || signals.vpn || network.mobile'
const holds = (ip: string): boolean => {
  const { signals, network } = checked(ip)
  return signals.tor || signals.vpn || network?.mobile === true
}

describe('CSV', () => {
  it('has one range for each address, with the fields of the answer', async () => {
    const fields = ['classification', 'risk_score', 'organization', 'asn', 'city', 'mobile']
    const text = await textOf('csv', { fields })
    const [head, ...cells] = parse(text, { bom: false })
    expect(head).toEqual(['first', 'last', ...fields])
    const rows = cells.map(([first, last, ...rest]) =>
      rowOf(`${first}-${last}`, JSON.stringify(rest)),
    )
    for (const ip of addresses) {
      const { classification, risk_score, network, location } = checked(ip)
      const own = [network?.organization ?? '', network?.asn ?? '', location?.city ?? '']
      const said = [classification, risk_score, ...own, network?.mobile ?? ''].map(String)
      expect([ip, found(rows, ip)]).toEqual([ip, [JSON.stringify(said)]])
    }
  })
})

describe('maps', () => {
  it.each([
    ['nginx', /^(\S+) "(.*)";$/],
    ['haproxy', /^(\S+) (.*)$/],
  ] as const)(
    'of %s have a prefix for each address that the field says something of',
    async (format, form) => {
      for (const [field, valueOf] of [
        ['classification', (ip: string) => checked(ip).classification],
        ['organization', (ip: string) => checked(ip).network?.organization ?? ''],
      ] as const) {
        const lines = (await textOf(format, { fields: [field] })).trimEnd().split('\n')
        const rows = lines.slice(2).map((line) => {
          const [, prefix = '', text = ''] = form.exec(line) ?? []
          return rowOf(prefix, format === 'nginx' ? text.replaceAll('\\', '') : text)
        })
        for (const ip of addresses) {
          const value = valueOf(ip)
          expect([ip, found(rows, ip)]).toEqual([ip, value === '' ? [] : [value]])
        }
      }
    },
  )
})

describe('sets', () => {
  it('of ipset hold the addresses for which the condition is true, and swap whole', async () => {
    const text = await textOf('ipset', { where: condition })
    const rows = [...text.matchAll(/^add iprisk[46]-new (\S+)$/gm)].map(([, prefix = '']) =>
      rowOf(prefix, 'in'),
    )
    for (const ip of addresses)
      expect([ip, found(rows, ip).length]).toEqual([ip, holds(ip) ? 1 : 0])
    expect(text).toMatch(/^create iprisk4-new hash:net family inet maxelem 67108864 -exist$/m)
    expect(text).toMatch(/swap iprisk6-new iprisk6\ndestroy iprisk6-new\n$/)
  })

  it('of ipset have two halves in place of a family', async () => {
    const text = await textOf('ipset', { where: 'true' })
    expect(text.match(/^add iprisk4-new .*/gm)).toEqual([
      'add iprisk4-new 0.0.0.0/1',
      'add iprisk4-new 128.0.0.0/1',
    ])
  })

  it('of nft hold the same', async () => {
    const text = await textOf('nft', { where: condition })
    const elements = [...text.matchAll(/^add element inet iprisk iprisk[46] \{ (.*) \}$/gm)]
    const rows = elements.flatMap(([, list = '']) =>
      list.split(', ').map((range) => rowOf(range, 'in')),
    )
    for (const ip of addresses)
      expect([ip, found(rows, ip).length]).toEqual([ip, holds(ip) ? 1 : 0])
    expect(text.match(/^flush set /gm)).toHaveLength(2)
  })

  it('of CrowdSec hold the same, as bans of addresses and ranges', async () => {
    const text = await textOf('crowdsec', { where: condition })
    const [head, ...lines] = text.trimEnd().split('\n')
    expect(head).toBe('duration,reason,scope,type,value')
    const rows = lines.map((line) => {
      const [, scope, prefix] = /^48h,iprisk,(Ip|Range),ban,(\S+)$/.exec(line)!
      expect([line, prefix!.includes('/')]).toEqual([line, scope === 'Range'])
      return rowOf(prefix!, 'in')
    })
    for (const ip of addresses)
      expect([ip, found(rows, ip).length]).toEqual([ip, holds(ip) ? 1 : 0])
  })

  it.each([
    ['cidr', /^(\S+\/\d+)$/],
    ['zeek', /^(\S+)\tIntel::(?:ADDR|SUBNET)\tiprisk$/],
    ['f5', /^([^,]+),(\d+),bl,iprisk$/],
    [
      'mikrotik',
      /^\/ip(?:v6)? firewall address-list add list=iprisk address=(\S+) comment=iprisk timeout=48h;$/,
    ],
  ] as const)('of %s hold the same', async (format, form) => {
    const lines = (await textOf(format, { where: condition })).trimEnd().split('\n')
    const heads: Readonly<Record<string, readonly string[]>> = {
      zeek: ['#fields\tindicator\tindicator_type\tmeta.source'],
      mikrotik: ['ip', 'ipv6'].map(
        (one) => `/${one} firewall address-list remove [find where list=iprisk];`,
      ),
    }
    const head = heads[format] ?? []
    expect(lines.splice(0, head.length)).toEqual(head)
    const rows = lines.map((line) => {
      const [, address = '', length] = form.exec(line) ?? []
      return rowOf(length === undefined ? address : `${address}/${length}`, 'in')
    })
    for (const ip of addresses)
      expect([ip, found(rows, ip).length]).toEqual([ip, holds(ip) ? 1 : 0])
  })

  it('of Suricata have the score of each, from 1', async () => {
    const text = await textOf('suricata', { where: condition })
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [prefix = '', category, score = ''] = line.split(',')
        expect(category).toBe('1')
        return rowOf(prefix, score)
      })
    for (const ip of addresses) {
      const score = String(Math.max(1, checked(ip).risk_score))
      expect([ip, found(rows, ip)]).toEqual([ip, holds(ip) ? [score] : []])
    }
  })

  it('of rbldnsd have a code for each, and the addresses that test a zone', async () => {
    const text = await textOf('rbldnsd', { where: condition })
    expect(text).toContain('@\n127.0.0.2 :127.0.0.2:test\n')
    expect(text).toContain('@\n::ffff:7f00:2 :127.0.0.2:test\n')
    const rows = text
      .split('\n')
      .filter((line) => line.includes(' :') && !line.endsWith(':test'))
      .map((line) => rowOf(line.split(' ')[0]!, line.split(' :')[1]!))
    const codes: Readonly<Record<string, number>> = {
      tor: 3,
      vpn: 4,
      residential_proxy: 6,
      mixed: 8,
    }
    for (const ip of addresses) {
      const { classification } = checked(ip)
      const said = `127.0.0.${codes[classification] ?? 2}:${classification}`
      expect([ip, found(rows, ip)]).toEqual([ip, holds(ip) ? [said] : []])
    }
  })

  it('say nothing of half a million neighbours: what is alike is one', async () => {
    const all = await exported({ format: 'cidr', where: 'signals.hosting' })
    expect(all.values).toBe(1)
    // 11.0.0.0/8 with a bot in it, and 2a01::/16, which the AS makes hosting.
    expect(all.rows).toBeLessThan(32)
  })
})
