// The filter of judged rows: what matches, by its words.

import { expect, it } from 'vitest'
import { matchingRows } from '../../src/console/page/text/row-filter.ts'
import type { AddressRow } from '../../src/console/page/text/answer-csv.ts'

const row = (ip: string, own: object): AddressRow => ({
  ip,
  classification: 'clean',
  risk_score: 2,
  risk_level: 'low',
  asn: 3320,
  network: 'Deutsche Telekom AG',
  network_type: 'isp',
  country: 'DE',
  provider: '',
  reasons: ['network_isp'],
  lists: [],
  action: 'allow',
  ...own,
})

const rows: readonly AddressRow[] = [
  row('192.0.2.1', {}),
  row('192.0.2.2', { classification: 'tor', risk_score: 91, asn: 33, country: 'NL' }),
  row('192.0.2.3', { classification: 'vpn', risk_score: 50, asn: 24_940, provider: 'NordVPN' }),
  row('192.0.2.4', {
    classification: 'proxy',
    risk_score: 62,
    lists: ['office-de'],
    action: 'block',
  }),
  row('192.0.2.5', { classification: 'residential_proxy', risk_score: 83, country: 'BR' }),
  { ip: 'nonsense', error: 'This is no address.' },
]

it.each([
  ['', '123456'],
  [' , ,', '123456'],
  ['tor', '2'],
  ['proxy', '4'],
  ['residential', '5'],
  ['tor, vpn', '23'],
  ['AS33', '2'],
  ['as24940', '3'],
  ['DE', '134'],
  ['de', '12345'],
  ['>= 50', '2345'],
  ['>50 <= 83', '45'],
  ['<50', '1'],
  ['= 50', '3'],
  ['>= 60 BR, nord', '35'],
  ['block 192.0.2', '4'],
  ['no address', '6'],
  ['AS33 DE', ''],
])('of %j', (filter, wanted) => {
  const found = matchingRows(rows, filter).map((one) => rows.indexOf(one) + 1)
  expect(found.join('')).toBe(wanted)
})
