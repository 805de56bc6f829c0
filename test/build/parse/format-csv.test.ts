// What the catalogue may ask of the format, and what a stray quote costs.

import { describe, expect, it } from 'vitest'
import { parseText } from './drive.ts'

describe('a file', () => {
  it('keeps a line whose stray quote touches no column that is read', async () => {
    const options = { columns: ['asn', 'name'], asn: 'asn', label: 'tag' }
    const said = await parseText('csv', 'AS64496,"""Name","\n"AS64497,x\n', options)
    expect(said.entries).toEqual([{ text: 'AS64496', place: 'line 1', label: 'tag' }])
    expect(said.drops).toEqual([{ reason: 'stray quote', place: 'line 2' }])
  })

  it('gives provider, name and class by column', async () => {
    const text = 'cidr,hostmin,vendor\n192.0.2.0/24,192.0.2.0,Example\n'
    const hoster = await parseText('csv', text, { address: 'cidr', provider: 'vendor' })
    expect(hoster.entries).toEqual([{ text: '192.0.2.0/24', place: 'line 2', provider: 'Example' }])
    const classes = 'asn,name,class,cc\r\nAS64496,"Example, Inc.",Eyeball,XX\r\n'
    const ases = await parseText('csv', classes, { asn: 'asn', name: 'name', class: 'class' })
    expect(ases.entries).toEqual([
      { text: 'AS64496', place: 'line 2', name: 'Example, Inc.', label: 'Eyeball' },
    ])
  })

  it('reads a geofeed: comments, empty columns, blanks at the end', async () => {
    const text = [
      '# Last modified: 2025-07-24 10:00:06.525037',
      '# ip_prefix, alpha2code, region, city, postal_code',
      '2001:db8::/32,XX,XX-A,Example, ',
      '192.0.2.0/24,XX,,,   ',
      '198.51.100.0/24',
    ].join('\n')
    const columns = ['prefix', 'country', 'region', 'city', 'postal']
    const said = await parseText('csv', text, { columns, address: 'prefix' })
    expect(said.entries.map((entry) => `${entry.place} ${entry.text}`)).toEqual([
      'line 3 2001:db8::/32',
      'line 4 192.0.2.0/24',
      'line 5 198.51.100.0/24',
    ])
    expect(said.days).toEqual(['2025-07-24'])
  })

  it.each([
    ['without its header', '# nothing\n\n', 'the file has no header line'],
    ['with another header', 'ip,port\n1,2\n', 'line 1 has no column "address": ip, port'],
  ])('is refused %s', async (_, text, message) => {
    await expect(parseText('csv', text, { address: 'address' })).rejects.toThrow(message)
  })

  it.each([
    [{}, /"address"/],
    [{ address: 'a', asn: 'b' }, /"address"/],
    [{ first: 'a' }, /"address"/],
    [{ address: 'a', separator: ';;' }, /"separator" must be one character/],
    [{ address: 'a', columns: ['b'] }, /"address" must be one of the columns/],
    [{ address: 1 }, /"address" must be a text/],
    [{ address: 'a', columns: [] }, /"columns" must be a list of strings/],
  ])('is refused with options %j', async (options, message) => {
    await expect(parseText('csv', 'a\n1\n', options)).rejects.toThrow(message)
  })
})
