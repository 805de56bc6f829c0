// What a person pastes: addresses, and lines of logs of several kinds in which one stands.

import { describe, expect, it } from 'vitest'
import {
  addressesIn,
  addressesOfText,
  clientAddress,
} from '../../src/console/page/text/log-addresses.ts'

const clf = '- - [22/Nov/2026:04:10:00 +0000] "GET /a HTTP/1.1" 200 12'

const lines: readonly (readonly [string, string, string | undefined])[] = [
  ['an address', '185.220.101.33', '185.220.101.33'],
  ['an address of IPv6', ' 2001:DB8::1 ', '2001:DB8::1'],
  ['the combined form', `203.0.113.7 ${clf} "-" "curl/8.5.0"`, '203.0.113.7'],
  ['a proxy in front', `10.0.0.4 ${clf} "-" "-" "198.51.100.9, 10.0.0.1"`, '198.51.100.9'],
  ['a virtual host in front', `192.0.2.1:80 198.51.100.9 ${clf} "-" "-"`, '198.51.100.9'],
  ['syslog in front', `Nov 22 04:10:00 web1 nginx: 198.51.100.9 ${clf} "-" "-"`, '198.51.100.9'],
  ['JSON', '{"client":"[2001:db8::1]:443","peer":"198.51.100.9:51234"}', '2001:db8::1'],
  ['a JSON array', '[{"remote_addr":"198.51.100.9"}]', '198.51.100.9'],
  [
    'a version and a time, and no address',
    'nginx 1.24.0 said at 04:10:00 that 10:20:30 was late',
    undefined,
  ],
  ['several in a text', 'from 198.51.100.9 by 203.0.113.1 at 10.0.0.1', '203.0.113.1'],
  ['only a private one', 'refused 192.168.1.5', '192.168.1.5'],
  ['a port alone', 'from 198.51.100.9:51234 refused', '198.51.100.9'],
  ['a mapped one', 'client=::ffff:198.51.100.9 x', '198.51.100.9'],
  ['a comment', '# 198.51.100.9', undefined],
  ['the end of a sentence', 'It was 198.51.100.9.', '198.51.100.9'],
  ['too large an octet', '198.51.100.256 and 1.2.3.4.5', undefined],
  ['a hash and a MAC address', 'id=a1b2c3d4 mac=00:1b:44:11:3a:b7', undefined],
  ['nothing', '', undefined],
]

describe('a line', () => {
  it.each(lines)('with %s', (_what, line, client) => {
    expect(clientAddress(line)).toBe(client)
  })

  it('gives every address once', () => {
    expect(addressesIn('1.2.3.4 5.6.7.8 1.2.3.4 ::1')).toEqual(['1.2.3.4', '5.6.7.8', '::1'])
  })

  it('of the worst kind takes no time', () => {
    const started = performance.now()
    for (const text of ['1:'.repeat(20_000), '1.'.repeat(20_000), 'a:'.repeat(20_000)])
      addressesIn(text)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('a text', () => {
  it('gives the client of each line, lists of addresses whole, and counts the rest', () => {
    const text = '1.2.3.4, 5.6.7.8\n10.0.0.1 - 9.9.9.9 x\nnothing\n\n1.2.3.4\n8.8.8.8'
    expect(addressesOfText(text, 3)).toEqual({
      addresses: ['1.2.3.4', '5.6.7.8', '9.9.9.9'],
      linesWithout: 1,
      beyond: 1,
      form: undefined,
    })
  })

  it('of a log is read by its form, which is named', () => {
    const fields = '#Fields: date time s-ip cs-uri-stem c-ip sc-status'
    const line = '2026-11-22 04:10:00 192.0.2.1 /a 198.51.100.9 200'
    expect(addressesOfText(`#Version: 1.0\r\n${fields}\r\n${line}\r\nx\r\n`, 3)).toEqual({
      addresses: ['198.51.100.9'],
      linesWithout: 1,
      beyond: 0,
      form: 'w3c',
    })
  })
})
