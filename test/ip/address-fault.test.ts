// What is wrong with texts that are no addresses, by table, and that the question always has an
// answer, soon.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AddressFault, addressFaultOf, addressFaults } from '../../src/ip/address-fault.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'

const table: Readonly<Record<AddressFault, readonly string[]>> = {
  empty: ['', ' ', '\t\n', '\u00a0'],
  several: ['1.2.3.4, 5.6.7.8', '1.2.3.4,5.6.7.8', '1.2.3.4 ::1', '1.2.3.4;::1', '1.2.3.4\n::1'],
  white_space: [' 1.2.3.4', '1.2.3.4 ', '1.2.3.4\n', '1.2. 3.4', '::1\t', '1.2.3.4/24 ', 'a b'],
  host_name: [
    ['localhost', 'example.com', 'example.com.', 'example.com:443', 'a-b_c.d', 'dead', 'beef.'],
    [
      'https://1.2.3.4/',
      'http://example.com',
      'bücher.example',
      '例え.テスト',
      '1.2.3.4.in-addr.arpa',
    ],
  ].flat(),
  prefix: ['1.2.3.4/32', '2a00::/16', '1.2.3.0/255.255.255.0', '1.2.3.4/', '::/0'],
  zone: ['fe80::1%eth0', 'fe80::1%25eth0', '::1%', '1.2.3.4%1'],
  port: [
    '1.2.3.4:80',
    '1.2.3.4:',
    '[::1]',
    '[::1]:443',
    '[1.2.3.4]',
    '[fe80::1%eth0]:80',
    '[',
    ']',
  ],
  leading_zeros: [
    '1.2.3.04',
    '01.2.3.4',
    '001.002.003.004',
    '::ffff:1.2.3.04',
    '02001::1',
    '1.2.3.00',
  ],
  ipv4: [
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    '16909060',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '1..2.3',
    '0',
  ],
  ipv6: [
    ':',
    ':::',
    '1::2::3',
    '12345::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::1.2.3',
    '::1.2.3.256',
  ],
  other: [
    '１.2.3.4!',
    '1.2.3.-4!',
    '<script>',
    '.',
    '\0',
    '1.2.3.4\0',
    '\ud800',
    '😀',
    '9'.repeat(257),
    '{}',
  ],
}

it.each(addressFaults.flatMap((fault) => table[fault].map((text) => [fault, text] as const)))(
  'is %s: %j',
  (fault, text) => {
    expect(addressFaultOf(text)).toBe(fault)
  },
)

it('is one of them for every text that is no address', () => {
  const words = newAddressWords()
  const characters = fc.constantFrom(...' \t.,:;/%[]0123456789abcdefxzé-_'.split(''))
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: characters }),
    fc.string({ unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(text, (text) => {
      fc.pre(parseAddress(text, words) === 0)
      expect(addressFaults).toContain(addressFaultOf(text))
    }),
    { numRuns: 5000 },
  )
})
