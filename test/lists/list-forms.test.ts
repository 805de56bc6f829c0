// Files of entries as their publishers and programs write them: a row a form, each read for what its
// documentation says; the judging of what cannot be read; and lines mutated at random.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { IpriskError } from '../../src/base/coded-error.ts'
import { entryLine } from '../../src/lists/list-text.ts'
import { checkListFile, readListFile } from '../../src/lists/import/read-list-file.ts'

const now = Date.UTC(2026, 7, 22)
const read = (text: string) => readListFile(text, now, 'file')
const entriesOf = (text: string): readonly string[] =>
  [...read(text).lists.values()].flatMap(({ entries }) => entries.map(entryLine))

const forms: readonly (readonly [what: string, form: string, text: string, entries: string[]])[] = [
  [
    'addresses and prefixes',
    'one entry a line',
    '\ufeff# mine\r\n\r\n203.0.113.7\r\n2001:db8::/32\r\nAS64496\r\n// end',
    ['203.0.113.7', '2001:db8::/32', 'AS64496'],
  ],
  [
    'ranges',
    'one entry a line',
    '203.0.113.1-203.0.113.9\n203.0.113.16 - 203.0.113.31\n',
    ['203.0.113.1-203.0.113.9', '203.0.113.16/28'],
  ],
  [
    'netmasks',
    'one entry a line',
    '203.0.113.0/255.255.255.0\n198.51.100.0/255.255.255.252\n',
    ['203.0.113.0/24', '198.51.100.0/30'],
  ],
  [
    'netmasks behind a blank',
    'one entry a line',
    '203.0.113.0 255.255.255.0\n198.51.100.0 255.255.255.252\n',
    ['203.0.113.0/24', '198.51.100.0/30'],
  ],
  ['a netmask alone', 'one entry a line', '203.0.113.0 255.255.255.0', ['203.0.113.0/24']],
  ['a wildcard of Cisco', 'one entry a line', '203.0.113.0 0.0.0.255', ['203.0.113.0/24']],
  [
    'Spamhaus DROP',
    'one entry a line',
    '; Spamhaus DROP List 2026/02/08 - (c) 2026 The Spamhaus Project SLU\n; https://www.spamhaus.org/drop/drop.txt\n1.10.16.0/20 ; SBL256894\n1.19.0.0/16 ; SBL434604\n',
    ['1.10.16.0/20 # SBL256894', '1.19.0.0/16 # SBL434604'],
  ],
  [
    'Spamhaus DROP as JSON',
    'JSON',
    '{"cidr":"1.10.16.0/20","sblid":"SBL256894","rir":"apnic"}\n{"cidr":"2a06:5280::/29","sblid":"SBL1","rir":"ripencc"}\n{"type":"metadata","timestamp":1770501845,"size":2,"records":2,"copyright":"(c) 2026"}\n',
    ['1.10.16.0/20 # SBL256894', '2a06:5280::/29 # SBL1'],
  ],
  [
    'Spamhaus ASN-DROP',
    'JSON',
    '{"asn":245,"rir":"arin","domain":"acd.net","cc":"US","asname":"ACD"}\n',
    ['AS245'],
  ],
  [
    'DShield',
    'CSV (Start, End, Netmask)',
    '#   DShield.org Recommended Block List\n#    Columns (tab delimited):\n#\nStart\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n193.163.125.0\t193.163.125.255\t24\t1846\tCONSTANTINE\tGB\tabuse@x.example\n',
    ['193.163.125.0/24'],
  ],
  [
    'a firehol netset',
    'one entry a line',
    '#\n# firehol_level1\n#\n# ipv4 hash:net ipset\n#\n# Entries         : 4412 subnets, 610 unique IPs\n#\n1.10.16.0/20\n1.19.0.0/16\n5.188.10.7\n',
    ['1.10.16.0/20', '1.19.0.0/16', '5.188.10.7'],
  ],
  [
    'ipset save',
    'ipset',
    'create bans hash:net family inet hashsize 1024 maxelem 65536 timeout 0 comment\nadd bans 203.0.113.0/24 timeout 300 comment "ssh, again"\nadd bans 198.51.100.7 timeout 0\n',
    ['203.0.113.0/24 2026-08-22T00:05:00Z # ssh, again', '198.51.100.7'],
  ],
  [
    'ipset list',
    'ipset',
    'Name: bans\nType: hash:ip\nRevision: 5\nHeader: family inet hashsize 1024\nSize in memory: 1\nReferences: 0\nNumber of entries: 1\nMembers:\n203.0.113.7\n',
    ['203.0.113.7'],
  ],
  [
    'an nft set',
    'nft set',
    'table inet filter {\n\tset bans {\n\t\ttype ipv4_addr\n\t\tflags interval,timeout\n\t\telements = { 203.0.113.0/24, 198.51.100.1-198.51.100.9 timeout 1h expires 30m,\n\t\t\t     192.0.2.7 comment "a, b" }\n\t}\n\tset ports {\n\t\ttype inet_service\n\t\telements = { 22, 80 }\n\t}\n\tchain input {\n\t\tip saddr { 192.0.2.99 } accept\n\t}\n}\n',
    ['203.0.113.0/24', '198.51.100.1-198.51.100.9 2026-08-22T00:30:00Z', '192.0.2.7 # a, b'],
  ],
  [
    'commands of nft',
    'nft set',
    'define bad = { 192.0.2.7 }\nadd element inet filter bans { 203.0.113.7, 2001:db8::/32 }\n',
    ['192.0.2.7', '203.0.113.7', '2001:db8::/32'],
  ],
  [
    'nft as JSON',
    'JSON',
    '{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"chain": {"name": "x"}}, {"set": {"family": "inet", "name": "b", "type": "ipv4_addr", "flags": ["interval"], "elem": [{"prefix": {"addr": "203.0.113.0", "len": 24}}, {"elem": {"val": {"range": ["198.51.100.1", "198.51.100.9"]}, "timeout": 3600, "expires": 1800}}, "192.0.2.7"]}}]}',
    ['203.0.113.0/24', '198.51.100.1-198.51.100.9 2026-08-22T00:30:00Z', '192.0.2.7'],
  ],
  [
    'a pf table',
    'pf table',
    'table <bans> persist { 203.0.113.0/24 192.0.2.7, 2001:db8::/32 }\nblock in quick from <bans>\n',
    ['203.0.113.0/24', '192.0.2.7', '2001:db8::/32'],
  ],
  [
    'a pf table with notes',
    'pf table',
    'table <f2b-sshd> persist { 203.0.113.7 # ours, too\n 192.0.2.7 }\n',
    ['203.0.113.7', '192.0.2.7'],
  ],
  [
    'an nft set with notes',
    'nft set',
    'elements = { 203.0.113.7, # ours, } too\n 192.0.2.7 comment "#1" }\n',
    ['203.0.113.7', '192.0.2.7 # #1'],
  ],
  ['a note behind //', 'one entry a line', '203.0.113.7 // ours\n', ['203.0.113.7 # ours']],
  [
    'pfctl -T show',
    'one entry a line',
    '   203.0.113.0/24\n   192.0.2.7\n',
    ['203.0.113.0/24', '192.0.2.7'],
  ],
  [
    'fail2ban-client status',
    'fail2ban',
    'Status for the jail: sshd\n|- Filter\n|  |- Currently failed:\t1\n|  |- Total failed:\t5\n|  `- File list:\t/var/log/auth.log\n`- Actions\n   |- Currently banned:\t2\n   |- Total banned:\t2\n   `- Banned IP list:\t203.0.113.7 198.51.100.2\n',
    ['203.0.113.7', '198.51.100.2'],
  ],
  [
    'fail2ban-client banned',
    'fail2ban',
    "[{'sshd': ['203.0.113.7', '198.51.100.2']}, {'nginx': []}]\n",
    ['203.0.113.7', '198.51.100.2'],
  ],
  [
    'fail2ban-client get sshd banip --with-time',
    'fail2ban',
    '203.0.113.7 \t2026-08-21 10:00:01 + 86400 = 2026-08-22 10:00:01\n2001:db8::7 \t2026-08-21 10:00:01 + -1 = 9999-12-31 23:59:59\n',
    ['203.0.113.7 2026-08-22T10:00:01Z', '2001:db8::7'],
  ],
  [
    'a log of fail2ban',
    'fail2ban',
    '2026-08-21 10:00:00,123 fail2ban.filter         [77]: INFO    [sshd] Found 203.0.113.9\n2026-08-21 10:00:01,123 fail2ban.actions        [77]: NOTICE  [sshd] Ban 203.0.113.7\n2026-08-21 10:00:02,123 fail2ban.actions        [77]: NOTICE  [sshd] Restore Ban 203.0.113.8\n2026-08-21 10:10:01,123 fail2ban.actions        [77]: NOTICE  [sshd] Unban 203.0.113.7\n',
    ['203.0.113.8'],
  ],
  [
    'a log of fail2ban with two jails',
    'fail2ban',
    '2026-08-21 10:00:01,123 fail2ban.actions [77]: NOTICE  [sshd] Ban 203.0.113.7\n2026-08-21 10:00:02,123 fail2ban.actions [77]: NOTICE  [nginx] Ban 203.0.113.7\n2026-08-21 10:10:01,123 fail2ban.actions [77]: NOTICE  [sshd] Unban 203.0.113.7\n',
    ['203.0.113.7'],
  ],
  [
    'cscli decisions list -o raw',
    'CSV (ip, action, simulated, reason, expiration)',
    'id,source,ip,reason,action,country,as,events_count,expiration,simulated,alert_id\n1,crowdsec,Ip:203.0.113.7,crowdsecurity/ssh-bf,ban,FR,12345 X,6,3h59m50.5s,false,1\n2,cscli,Range:2001:db8::/32,manual,ban,,,0,24h,false,2\n3,cscli,AS:64496,manual,ban,,,0,24h,false,2\n',
    [
      '203.0.113.7 2026-08-22T03:59:51Z # crowdsecurity/ssh-bf',
      '2001:db8::/32 2026-08-23T00:00:00Z # manual',
      'AS64496 2026-08-23T00:00:00Z # manual',
    ],
  ],
  [
    'decisions for cscli',
    'CSV (value, scope, duration)',
    'duration,scope,value\n24h,ip,203.0.113.7\n',
    ['203.0.113.7 2026-08-23T00:00:00Z'],
  ],
  [
    'decisions as JSON',
    'JSON',
    '[{"duration": "4h", "scope": "ip", "type": "ban", "value": "203.0.113.7"}]',
    ['203.0.113.7 2026-08-22T04:00:00Z'],
  ],
  [
    'CSV of Excel',
    'CSV (IP Address, Comment)',
    'sep=;\nIP Address;Comment\n203.0.113.7;"ours; theirs"\n',
    ['203.0.113.7 # ours; theirs'],
  ],
  [
    'CSV with its header as a comment (abuse.ch)',
    'CSV (DstIP)',
    '# abuse.ch SSLBL\n# Firstseen,DstIP,DstPort\n2026-08-21 10:00:00,203.0.113.7,443\n',
    ['203.0.113.7'],
  ],
  [
    'CSV with quotes',
    'CSV (dst_ip, malware)',
    '"first_seen_utc","dst_ip","dst_port","malware"\n"2026-08-21 10:00:00","203.0.113.7","443","Dridex"\n',
    ['203.0.113.7 # Dridex'],
  ],
  [
    'IPsum',
    'CSV (IP)',
    '# IPsum Threat Intelligence Feed\n#\n# IP\tnumber of (black)lists\n#\n203.0.113.7\t9\n',
    ['203.0.113.7'],
  ],
  [
    'CSV of ranges',
    'CSV (start_ip, end_ip)',
    'start_ip,end_ip,name\n203.0.113.0,203.0.113.127,x\n',
    ['203.0.113.0/25'],
  ],
  [
    'JSON of AWS',
    'JSON',
    '{"syncToken":"1","prefixes":[{"ip_prefix":"203.0.113.0/24","region":"x"}],"ipv6_prefixes":[{"ipv6_prefix":"2001:db8::/32"}]}',
    ['203.0.113.0/24', '2001:db8::/32'],
  ],
  [
    'JSON of an AS with its prefixes',
    'JSON',
    '{"asn":64496,"metadata":{"count":2},"prefixes":["203.0.113.0/24"],"ips":[{"ip":"192.0.2.7"}]}',
    ['203.0.113.0/24', '192.0.2.7'],
  ],
  [
    'a JSON array over lines',
    'JSON',
    '[\n  "203.0.113.7",\n  {"ip": "198.51.100.7", "comment": "x"}\n]\n',
    ['203.0.113.7', '198.51.100.7 # x'],
  ],
  ['carriage returns', 'CSV (ip, note)', 'ip,note\r203.0.113.7,a\r', ['203.0.113.7 # a']],
  ['CSV by src', 'CSV (src)', 'src,count\n203.0.113.7,5\n', ['203.0.113.7']],
  ['CSV of a source that is none', 'CSV (value)', 'source,value\nx,203.0.113.7', ['203.0.113.7']],
  [
    'CSV of networks with prefixes',
    'CSV (network, prefix)',
    'network,prefix\n203.0.113.0,24\n2001:db8::,32\n',
    ['203.0.113.0/24', '2001:db8::/32'],
  ],
  [
    'CSV of prefixes of named networks',
    'CSV (prefix)',
    'network,prefix\noffice,203.0.113.0/24\n',
    ['203.0.113.0/24'],
  ],
  [
    'CSV without a header',
    'CSV (column 2)',
    '2026-08-21,203.0.113.7,"a, b"\n2026-08-21,198.51.100.0/24,c\n',
    ['203.0.113.7', '198.51.100.0/24'],
  ],
  ['tabs without a header', 'CSV (column 1)', '203.0.113.7\t5\n', ['203.0.113.7']],
  [
    'CSV by a name of its own',
    'CSV (angreifer)',
    'nr;angreifer\n1;203.0.113.7\n2;198.51.100.7\n',
    ['203.0.113.7', '198.51.100.7'],
  ],
  [
    'commas in notes',
    'one entry a line',
    '203.0.113.7 # a, b\n198.51.100.7\n',
    ['203.0.113.7 # a, b', '198.51.100.7'],
  ],
  [
    'ends behind a tab',
    'one entry a line',
    '203.0.113.7\t2026-12-01T00:00:00Z',
    ['203.0.113.7 2026-12-01T00:00:00Z'],
  ],
  [
    'counts, items and denials',
    'one entry a line',
    '     12 203.0.113.7\n- "198.51.100.7"\ndeny 192.0.2.0/24;\n',
    ['203.0.113.7', '198.51.100.7', '192.0.2.0/24'],
  ],
  [
    'commas between, and brackets around dots',
    'one entry a line',
    '203.0.113.7, 198.51.100.7, 192.0.2.0/24\n2[.]16[.]0[.]1',
    ['203.0.113.7', '198.51.100.7', '192.0.2.0/24', '2.16.0.1'],
  ],
  [
    'JSON of service tags',
    'JSON',
    '{"values":[{"name":"x","properties":{"addressPrefixes":["203.0.113.0/24"],"networkFeatures":["API"]}}]}',
    ['203.0.113.0/24'],
  ],
  [
    'JSON of an AS with its subnets',
    'JSON',
    '{"asn":64496,"subnets":{"ipv4":["203.0.113.0/24"],"ipv6":["2001:db8::/32"]}}',
    ['203.0.113.0/24', '2001:db8::/32'],
  ],
]

describe('a file of entries', () => {
  it.each(forms)('is read: %s', (_what, form, text, entries) => {
    expect([read(text).form, entriesOf(text), read(text).bad.lines]).toEqual([form, entries, []])
  })

  const bad: readonly (readonly [text: string, why: string])[] = [
    ['!192.0.2.1', 'negated'],
    ['add bans 192.0.2.0/24 nomatch\nadd bans 198.51.100.7', 'negated'],
    ['add bans 192.0.2.1,tcp:80', 'it is not an address'],
    ['elements = { 192.0.2.1 . 22 }', 'it is not an address'],
    ['table <x> { 192.0.2.0/24 !192.0.2.9 }', 'negated'],
    ['ip,scope\nCN,Country', 'its scope is Country'],
    ['ip,action,scope\n192.0.2.1,captcha,Ip', 'it is not a ban but captcha'],
    ['ip,until\n192.0.2.1,tomorrow', 'tomorrow is not a time'],
    ['{"a":1}', 'none of its members is an address'],
    ['{"ip":"192.0.2.1"}\n{"ip":', 'it is not JSON'],
    ['[{"ip":', 'truncated or invalid'],
    ['{"ip":"192.0.2\n{"ip":"192.0.2.1"}', 'it is not JSON'],
    ['.2.2"}\n{"ip":"192.0.2.1"}', 'it is not JSON'],
    ['"a"}\n{"list":"a","effect":"block","entry":"192.0.2.1"}', 'it is not JSON'],
    ['192.0.2.0 255.0.255.0', 'two entries'],
    ['0.0.0.0 tracker.example', 'not a time'],
    ['192.0.2.1:443', 'it is not an address'],
    ['192.0.2.0,192.0.2.9', 'two entries on one line'],
    ['192.0.2.0 192.0.2.9', 'two entries on one line'],
    ['allow 192.0.2.1;\ndeny 192.0.2.9;', 'not a time'],
  ]
  it.each(bad)('names what it does not take: %s', (text, why) => {
    expect(read(text).bad).toEqual({ count: 1, lines: [expect.stringContaining(why)] })
  })

  const codeOf = (
    text: string,
    how: Parameters<typeof checkListFile>[1] = {},
  ): readonly string[] => {
    try {
      checkListFile(read(text), how)
      return []
    } catch (error) {
      return (error as IpriskError).lines
    }
  }

  it('masks host bits with a count, and refuses them in a list that allows', () => {
    const { masked, bad, good } = read('192.0.2.5/24\n192.0.2.7\n')
    const line = '  file:1: "192.0.2.5/24": host bits are set; did you mean 192.0.2.0/24?'
    expect([masked, bad.count, good]).toEqual([{ count: 1, lines: [line] }, 0, 2])
    expect(codeOf('192.0.2.5/24')).toEqual([])
    expect(codeOf('192.0.2.5/24', { strict: true })).toEqual(['Nothing was imported:', line])
    const own = '{"list":"a","effect":"allow","entry":"192.0.2.5/24"}'
    expect(codeOf(own)[1]).toContain('did you mean 192.0.2.0/24?')
  })

  it('is used where half of it is good, and replaces with bad lines by force alone', () => {
    const half = '192.0.2.1\nx\n'
    expect(codeOf(half)).toEqual([])
    expect(codeOf(half, { strict: true })).toHaveLength(2)
    expect(codeOf(half, { replace: true })[0]).toContain('add --force')
    expect(codeOf(half, { replace: true, force: true })).toEqual([])
    expect(codeOf(`${half}y\n`, { force: true })[0]).toBe(
      'Nothing was imported: file was read as one entry a line, and 2 of its 3 lines could not be read:',
    )
  })

  it('may be a set of a million elements, or one element without an end', () => {
    const many = Array.from(
      { length: 300_000 },
      (_, i) => `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    )
    expect(read(`add element inet f b { ${many.join(', ')} }`).good).toBe(many.length)
    expect(read(`add element inet f b { ${'x'.repeat(5_000_000)} }`).bad.count).toBe(1)
  })

  it('has every line counted once, however it is mutated', () => {
    const texts = forms.map(([, , text]) => text)
    const noise = fc.constantFrom(
      '\0',
      '"',
      '{',
      '}',
      ',',
      ' ',
      '-',
      '!',
      '#',
      '\\',
      '9',
      ':',
      '\n',
    )
    const mutant = fc
      .tuple(fc.constantFrom(...texts), fc.nat(), noise, fc.nat(3))
      .map(([text, at, what, cut]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + what + text.slice(place + cut)
      })
    fc.assert(
      fc.property(mutant, (text) => {
        const { good, bad, lists } = read(text)
        const entries = [...lists.values()].flatMap((list) => list.entries)
        expect(entries.length).toBe(good)
        expect(bad.lines.length).toBe(Math.min(bad.count, 10))
      }),
      { numRuns: 2000 },
    )
  })
})
