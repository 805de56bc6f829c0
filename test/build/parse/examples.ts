// One small input for each format with all that the format knows, for tests that hold for every
// format: chunk boundaries, line ends, byte order mark, HTML.

import type { FormatOptions } from '../../../build/parse/entry.ts'

export interface Example {
  readonly name: string
  readonly format: string
  readonly options: FormatOptions
  readonly text: string
  /** Texts of the entries. */
  readonly entries: readonly string[]
  readonly drops: readonly string[]
  readonly day?: string
}

const services = {
  Examplebot: { provider: 'Example', category: 'search_crawler' },
  'Watch/Dog': { provider: 'Dog', category: 'other' },
}

export const examples: readonly Example[] = [
  {
    name: 'list',
    format: 'list',
    options: {},
    text: [
      '# Résumé of a list',
      '# Last update: Sat, 22 Aug 2026 03:00:29 +0200',
      '',
      '192.0.2.1',
      '  198.51.100.0/24  # an office — “quoted”',
      '2001:db8::/32;v6',
      '203.0.113.7 - 203.0.113.9',
      '203.0.113.10-203.0.113.12',
      '999.1.1.1',
      'example.org',
      '192.0.2.2 192.0.2.3',
      '; Generated: 2020-01-01, which comes second and is not the day',
    ].join('\n'),
    entries: [
      '192.0.2.1',
      '198.51.100.0/24',
      '2001:db8::/32',
      '203.0.113.7-203.0.113.9',
      '203.0.113.10-203.0.113.12',
      '999.1.1.1',
    ],
    drops: ['line 10: no address, prefix or range', 'line 11: several words'],
    day: '2026-08-22',
  },
  {
    name: 'list whose first line is its time',
    format: 'list',
    options: {},
    text: '# 2025-08-31T13:25:28Z\n192.0.2.1 # Updated: 2026-01-01\n# 2026-02-02T00:00:00Z\n',
    entries: ['192.0.2.1'],
    drops: [],
    day: '2025-08-31',
  },
  {
    name: 'proxies',
    format: 'proxies',
    options: {},
    text: [
      '# Updated at: 2026-08-22T23:30:00-02:00',
      'http://192.0.2.1:8080',
      'socks5://user:pass@198.51.100.2:1080/',
      '203.0.113.3:3128',
      '[2001:db8::5]:443',
      'proxy.example.org:80',
      '192.0.2.9',
      '2001:db8::6:80',
      '192.0.2.4:0',
      '192.0.2.4:70000',
      '',
    ].join('\n'),
    entries: ['192.0.2.1', '198.51.100.2', '203.0.113.3', '2001:db8::5'],
    drops: [
      'line 6: host is not an address',
      'line 7: no host and port',
      'line 8: no host and port',
      'line 9: port out of range',
      'line 10: port out of range',
    ],
    day: '2026-08-23',
  },
  {
    name: 'csv with a header',
    format: 'csv',
    options: { separator: ';', address: 'ip_address', provider: 'owner' },
    text: [
      '# Last update: Sat Nov 22 2025 01:04:41 GMT+0000 (Coordinated Universal Time)',
      '',
      'ip_address;owner; confidence',
      '192.0.2.1;Ümlaut, Ltd.;1.0',
      '192.0.2.2;"with; separator";0.9',
      '192.0.2.3; "with ""quotes""" ;0.9',
      ';nobody;1.0',
      '192.0.2.4;"not closed;1.0',
      '192.0.2.5;fine;"not closed',
      '192.0.2.6',
    ].join('\n'),
    entries: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.5', '192.0.2.6'],
    drops: ['line 7: no address', 'line 8: stray quote'],
    day: '2025-11-22',
  },
  {
    name: 'csv of ranges without a header',
    format: 'csv',
    options: {
      columns: ['first', 'last', 'name', 'url'],
      first: 'first',
      last: 'last',
      provider: 'name',
    },
    text: '192.0.2.0,192.0.2.255,Example,http://example.org\n198.51.100.0,,Example,\n',
    entries: ['192.0.2.0-192.0.2.255'],
    drops: ['line 2: no first and last address'],
  },
  {
    name: 'csv with a header in a comment, and lines that are no rows',
    format: 'csv',
    options: { columns: ['HostName', 'IP', 'Config'], address: 'IP', skip: '*' },
    text: '*servers\n#HostName,IP,Config\none,192.0.2.1,QUJD\ntwo,,QUJD\n*\n',
    entries: ['192.0.2.1'],
    drops: ['line 4: no address'],
  },
  {
    name: 'csv of ASes',
    format: 'csv',
    options: { asn: 'ASN', name: 'Entity', class: 'Class' },
    text: 'ASN,Entity,Class\n64496, "An ""Example"", XX",Content\nAS64497,Two,\nASX,Three,\n',
    entries: ['AS64496', 'AS64497'],
    drops: ['line 4: no AS number'],
  },
  {
    name: 'ipsum',
    format: 'ipsum',
    options: {},
    text: [
      '# Last update: Sat, 22 Aug 2026 00:30:29 +0200',
      '#',
      '192.0.2.1\t10',
      '192.0.2.2 1',
      '192.0.2.3',
      '192.0.2.4\t0',
      '',
    ].join('\n'),
    entries: ['192.0.2.1', '192.0.2.2'],
    drops: ['line 5: no address and count', 'line 6: count is zero'],
    day: '2026-08-21',
  },
  {
    name: 'asns',
    format: 'asns',
    options: { label: 'hosting' },
    text: 'AS64496 # An example, XX\nas64497\t# Tab\n64498\n# remark\nAS # none\nAS12345678901\n',
    entries: ['AS64496', 'AS64497', 'AS64498'],
    drops: ['line 5: no AS number', 'line 6: no AS number'],
  },
  {
    name: 'json',
    format: 'json',
    options: { entries: ['/prefixes/*/v4', '/prefixes/*/v6'], day: '/created' },
    text: JSON.stringify({
      created: '2026-08-22-15-17-05',
      other: [[], {}, [{ v4: '192.0.2.250' }], 1.5e3, true, null, 'ö "\\ \u2028 😀'],
      prefixes: [
        { v4: '192.0.2.0/24', service: 'A' },
        { service: 'B', v6: ' 2001:db8::/32 ' },
        { v4: null },
        { v4: ['192.0.2.0/24'] },
        { v4: '' },
        {},
      ],
    }),
    entries: ['192.0.2.0/24', '2001:db8::/32'],
    drops: [
      '/prefixes/2/v4: not a string',
      '/prefixes/3/v4: not a string',
      '/prefixes/4/v4: empty text',
    ],
    day: '2026-08-22',
  },
  {
    name: 'json with its day in seconds',
    format: 'json',
    options: { entries: ['/servers/*/ips/*'], day: '/timestamp' },
    text: JSON.stringify({
      version: 1,
      timestamp: Date.UTC(2026, 7, 22, 23, 59) / 1000,
      servers: [{ hostname: 'a.example', ips: ['192.0.2.1', '2001:db8::1'] }, { ips: [7] }],
    }),
    entries: ['192.0.2.1', '2001:db8::1'],
    drops: ['/servers/1/ips/0: not a string'],
    day: '2026-08-22',
  },
  {
    name: 'json of services',
    format: 'json',
    options: { entries: ['/services/{service}/ipv4/*'], services },
    text: JSON.stringify(
      {
        services: {
          Examplebot: { ipv4: ['192.0.2.1', '192.0.2.2'], ipv6: ['2001:db8::1'] },
          'Watch/Dog': { ipv4: ['192.0.2.3'] },
          New: { ipv4: ['192.0.2.4'] },
        },
      },
      null,
      2,
    ),
    entries: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    drops: ['/services/New/ipv4/0: unknown service'],
  },
  {
    name: 'json of member names',
    format: 'json',
    options: { names: ['/*'] },
    text: '{\n "192.0.2.1": 30,\n "2001:db8::1": 4\n}\n',
    entries: ['192.0.2.1', '2001:db8::1'],
    drops: [],
  },
  {
    name: 'json lines, with the time in the last one',
    format: 'json',
    options: { lines: true, entries: ['/cidr'], day: '/timestamp' },
    text:
      '{"cidr":"192.0.2.0/24","sblid":"SBL1"}\n{"cidr":"2001:db8::/32"}\n' +
      '{"type":"metadata","timestamp":1787360400,"terms":"https://example.org/"}\n',
    entries: ['192.0.2.0/24', '2001:db8::/32'],
    drops: [],
    day: '2026-08-22',
  },
  {
    name: 'json of ASNs',
    format: 'json',
    options: { entries: ['/*'], asn: true, label: 'datacenter' },
    text: '["64496", 64497, "AS64498", "x", -1]',
    entries: ['AS64496', 'AS64497', 'AS64498'],
    drops: ['/3: no AS number', '/4: no AS number'],
  },
]
