// Each format of a list URL as text, beside what reads it for real where the machine has it.

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { partOf } from '../../src/adapters/lists/list-endpoint.ts'
import type { ListFormat } from '../../src/config/export-formats.ts'
import { writeList } from '../../src/sets/list-parts.ts'
import { type ListPart, partName, partNamed } from '../../src/sets/set-folder.ts'
import { openExportFile } from '../../src/export/export-file.ts'
import { newSetRecords } from '../../src/sets/set-records.ts'
import { smallTable } from './small-export.ts'
import { atEndOfFile } from '../ends.ts'
import { removeFolder } from '../remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-lists-'))
atEndOfFile(() => removeFolder(folder))

const records = newSetRecords(100)
records.add(Uint32Array.of(0, 0, 0, 0xc000_0200), 96 + 24, 0)
records.add(Uint32Array.of(0, 0, 0, 0xc633_6401), 128, 0)
records.add(Uint32Array.of(0x2001_0db8, 0, 0, 0), 32, 0)
records.add(Uint32Array.of(0x2001_0db9, 0, 0, 1), 128, 0)

const all = { layout: undefined, family: undefined, page: 1, pageSize: Infinity } as const

function textOf(part: Partial<ListPart> & { readonly format: ListFormat }, of = records.words()) {
  const path = join(folder, 'list')
  const file = openExportFile(path)
  writeList(file, of, { name: 'abuse', part: { ...all, ...part }, table: smallTable })
  file.commit()
  return readFileSync(path, 'utf8')
}

const texts: Readonly<Record<Exclude<ListFormat, 'mmdb'>, string>> = {
  plain: '192.0.2.0/24\n198.51.100.1\n2001:db8::/32\n2001:db9::1\n',
  range: `192.0.2.0-192.0.2.255
198.51.100.1-198.51.100.1
2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
2001:db9::1-2001:db9::1
`,
  json: '["192.0.2.0/24",\n"198.51.100.1/32",\n"2001:db8::/32",\n"2001:db9::1/128"]\n',
  f5: '192.0.2.0,24,bl,abuse\n198.51.100.1,32,bl,abuse\n2001:db8::,32,bl,abuse\n2001:db9::1,128,bl,abuse\n',
  checkpoint: `#UNIQ-NAME,VALUE,TYPE,CONFIDENCE,SEVERITY,PRODUCT,COMMENT
abuse-192.0.2.0-24,192.0.2.0-192.0.2.255,IP Range,high,high,AB,iprisk
abuse-198.51.100.1-32,198.51.100.1,IP,high,high,AB,iprisk
`,
  mikrotik: `/ip firewall address-list remove [find where list=abuse];
/ipv6 firewall address-list remove [find where list=abuse];
/ip firewall address-list add list=abuse address=192.0.2.0/24 comment=iprisk timeout=48h;
/ip firewall address-list add list=abuse address=198.51.100.1/32 comment=iprisk timeout=48h;
/ipv6 firewall address-list add list=abuse address=2001:db8::/32 comment=iprisk timeout=48h;
/ipv6 firewall address-list add list=abuse address=2001:db9::1/128 comment=iprisk timeout=48h;
`,
  nginx: '192.0.2.0/24 1;\n198.51.100.1/32 1;\n2001:db8::/32 1;\n2001:db9::1/128 1;\n',
  haproxy:
    '192.0.2.0/24 abuse\n198.51.100.1/32 abuse\n2001:db8::/32 abuse\n2001:db9::1/128 abuse\n',
  nft: `add table inet iprisk
add set inet iprisk abuse-4 { type ipv4_addr; flags interval; }
flush set inet iprisk abuse-4
add set inet iprisk abuse-6 { type ipv6_addr; flags interval; }
flush set inet iprisk abuse-6
add element inet iprisk abuse-4 { 192.0.2.0/24, 198.51.100.1/32 }
add element inet iprisk abuse-6 { 2001:db8::/32, 2001:db9::1/128 }
`,
  ipset: `create abuse-4 hash:net family inet maxelem 67108864 -exist
create abuse-4-new hash:net family inet maxelem 67108864 -exist
flush abuse-4-new
create abuse-6 hash:net family inet6 maxelem 67108864 -exist
create abuse-6-new hash:net family inet6 maxelem 67108864 -exist
flush abuse-6-new
add abuse-4-new 192.0.2.0/24
add abuse-4-new 198.51.100.1/32
add abuse-6-new 2001:db8::/32
add abuse-6-new 2001:db9::1/128
swap abuse-4-new abuse-4
destroy abuse-4-new
swap abuse-6-new abuse-6
destroy abuse-6-new
`,
}

describe('a list', () => {
  it.each(Object.keys(texts) as (keyof typeof texts)[])('as %s', (format) => {
    const part = partOf(new URLSearchParams({ format })) as ListPart
    expect(textOf(part)).toBe(texts[format])
  })

  it('of one family, and by pages', () => {
    expect(textOf({ format: 'plain', family: 4 })).toBe('192.0.2.0/24\n198.51.100.1\n')
    expect(textOf({ format: 'plain', family: 6 })).toBe('2001:db8::/32\n2001:db9::1\n')
    const pages = [1, 2, 3].map((page) => textOf({ format: 'plain', page, pageSize: 3 }))
    expect(pages).toEqual(['192.0.2.0/24\n198.51.100.1\n2001:db8::/32\n', '2001:db9::1\n', ''])
    // What was loaded of the other family stays.
    expect(textOf({ format: 'mikrotik', family: 6 })).not.toContain('/ip firewall')
    for (const format of ['nft', 'ipset'] as const) {
      expect(textOf({ format, family: 6 })).not.toContain('abuse-4')
      expect(textOf({ format, family: 4 })).not.toContain('abuse-6')
    }
    expect(textOf({ format: 'json', family: 6, page: 2, pageSize: 1 })).toBe(
      '["2001:db9::1/128"]\n',
    )
  })

  it('of nft in batches', () => {
    const many = newSetRecords(5000)
    for (let i = 0; i < 4001; i++) many.add(Uint32Array.of(0, 0, 0, i * 2), 128, 0)
    const lines = textOf({ format: 'nft' }, many.words()).split('\n').slice(-3)
    expect(lines[0]!.split(', ').length).toBe(4000)
    expect(lines.slice(1)).toEqual(['add element inet iprisk abuse-4 { 0.0.31.64/32 }', ''])
  })

  it('that is empty, or of all addresses', () => {
    expect(textOf({ format: 'json' }, new Uint32Array())).toBe('[]\n')
    const whole = newSetRecords(2)
    whole.add(Uint32Array.of(0, 0, 0, 0), 96, 0)
    expect(textOf({ format: 'range' }, whole.words())).toBe('0.0.0.0-255.255.255.255\n')
    expect(textOf({ format: 'ipset', family: 4 }, whole.words())).toContain(
      'add abuse-4-new 0.0.0.0/1\nadd abuse-4-new 128.0.0.0/1\n',
    )
  })
})

describe('a part', () => {
  it.each([
    ['', 'plain_0_1_Infinity'],
    ['format=nft&family=4', 'nft_4_1_Infinity'],
    ['format=json&page=2&page_size=50000', 'json_0_2_50000'],
    ['page_size=10&family=6', 'plain_6_1_10'],
    ['format=checkpoint', 'checkpoint_4_1_Infinity'],
    ['format=mmdb', 'mmdb_iprisk_1_Infinity'],
    ['format=mmdb&layout=anonymous-plus', 'mmdb_anonymous-plus_1_Infinity'],
  ])('of ?%s is called %s', (query, name) => {
    const part = partOf(new URLSearchParams(query)) as ListPart
    expect(partName(part)).toBe(name)
    expect(partNamed(name)).toEqual(part)
  })

  it.each([
    ['format=xml', 'format'],
    ['format=mmdb&layout=x', 'layout'],
    ['format=mmdb&family=4', 'family'],
    ['format=nft&layout=city', 'layout'],
    ['format=', 'format'],
    ['family=5', 'family'],
    ['page=0&page_size=5', 'page'],
    ['page=2', 'page_size'],
    ['page_size=1e3', 'page_size'],
    ['page_size=0', 'page_size'],
    ['format=nft&page_size=5', 'page_size'],
    ['format=ipset&page=1&page_size=5', 'page_size'],
    ['format=mikrotik&page_size=5', 'page_size'],
    ['format=checkpoint&family=6', 'family'],
  ])('?%s names what is wrong', (query, name) => {
    expect(partOf(new URLSearchParams(query))).toBe(name)
  })
})
