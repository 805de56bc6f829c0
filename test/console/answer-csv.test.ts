// The file that a person takes away: no cell of it runs in a spreadsheet, and a reader gets back
// what was shown.

import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { type AddressRow, answerCsv } from '../../src/console/page/text/answer-csv.ts'

const row = (members: Partial<Extract<AddressRow, { readonly asn: number }>>): AddressRow => ({
  ip: '192.0.2.1',
  classification: 'vpn',
  risk_score: 62,
  risk_level: 'high',
  asn: 64496,
  network: 'Example',
  network_type: 'hosting',
  country: 'DE',
  provider: '',
  reasons: ['vpn_listed', 'network_hosting'],
  lists: [],
  action: 'challenge',
  ...members,
})

const read = (csv: string): readonly Readonly<Record<string, string>>[] =>
  parse(csv, { columns: true })

describe('the answers as CSV', () => {
  it('have a head and a line each', () => {
    const csv = answerCsv([row({}), { ip: 'nonsense', error: 'no address' }])
    expect(csv.split('\r\n')).toEqual([
      'ip,classification,risk_score,risk_level,asn,network,network_type,country,provider,reasons,lists,action,error',
      '192.0.2.1,vpn,62,high,64496,Example,hosting,DE,,vpn_listed network_hosting,,challenge,',
      'nonsense,,,,,,,,,,,,no address',
      '',
    ])
  })

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1', '=HYPERLINK("http://x","y")', '"\r\n=1'])(
    'hold %j as a text',
    (name) => {
      for (const one of [
        row({ network: name }),
        row({ provider: name }),
        row({ reasons: [name] }),
      ]) {
        const [answer = {}] = read(answerCsv([one]))
        const cells = Object.values(answer).filter((cell) => cell.includes(name.trim()))
        expect(cells.length).toBeGreaterThan(0)
        for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@＝\s]/)
      }
    },
  )
})
