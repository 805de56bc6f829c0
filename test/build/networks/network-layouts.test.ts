// Files of networks and of places as their publishers write them, a row a layout; packed, too. What
// is of none is refused with the layouts that are known.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readAsRanges } from '../../../build/networks/asn-ranges.ts'
import { readPlaces } from '../../../build/places/read-places.ts'
import { valueAt } from '../../../build/layer/layer.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-layouts-'))

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text)
  return path
}

const words = newAddressWords()
function familyOf(address: string): 4 | 6 {
  const family = parseAddress(address, words)
  if (family === 0) throw new Error(address)
  return family
}

const lite = `network,country,country_code,continent,continent_code,asn,as_name,as_domain
9.9.9.9,United States,US,North America,NA,AS19281,Quad9,quad9.net
203.0.113.0/25,Norway,NO,Europe,EU,AS64500,"Fjord, Inc.",fjord.example
198.51.100.4-198.51.100.9,Norway,NO,Europe,EU,AS64501,Range,r.example
192.0.2.0/24,Sweden,SE,Europe,EU,,,
2001:db8::/33,Sweden,SE,Europe,EU,AS64502,Six,six.example
`
const networks: readonly (readonly [
  name: string,
  text: string,
  asked: string,
  asn: number,
  organization: string,
])[] = [
  ['lite.csv', lite, '9.9.9.9', 19_281, 'Quad9'],
  ['lite.csv', lite, '203.0.113.127', 64_500, 'Fjord, Inc.'],
  ['lite.csv', lite, '198.51.100.9', 64_501, 'Range'],
  ['lite.csv', lite, '2001:db8::1', 64_502, 'Six'],
  ['lite.csv.gz', lite, '9.9.9.9', 19_281, 'Quad9'],
  [
    'ipinfo-old.csv',
    'start_ip,end_ip,asn,name,domain\n203.0.113.0,203.0.113.9,AS64500,Fjord,f.example\n',
    '203.0.113.9',
    64_500,
    'Fjord',
  ],
  [
    'ip2asn-combined.tsv',
    '1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n1.0.1.0\t1.0.3.255\t0\tNone\tNot routed\n203.0.113.0\t203.0.113.9\t64500\tNO\t"FJORD" Inc\n',
    '203.0.113.1',
    64_500,
    'FJORD Inc',
  ],
  [
    'dbip-asn-lite-2026-08.csv',
    '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n203.0.113.0,203.0.113.9,64500,Fjord\n',
    '1.0.0.9',
    13_335,
    'Cloudflare, Inc.',
  ],
  [
    'GeoLite2-ASN-Blocks-IPv4.csv',
    'network,autonomous_system_number,autonomous_system_organization\n1.0.0.0/24,13335,CLOUDFLARENET\n',
    '1.0.0.9',
    13_335,
    'CLOUDFLARENET',
  ],
]

describe('a file of networks', () => {
  it.each(networks)('%s: %#', async (name, text, asked, asn, organization) => {
    const { layers, organizations, stats } = await readAsRanges([write(name, text)])
    expect(valueAt(layers[familyOf(asked)], words)).toBe(asn)
    expect([organizations.get(asn), stats.problems.samples]).toEqual([organization, []])
  })

  it('of no known layout is refused with those that are', async () => {
    const path = write('geo.csv', 'network,country\n203.0.113.0/24,NO\n')
    await expect(readAsRanges([path])).rejects.toThrow(/geo.csv:2: no AS number.*IPinfo.*IPtoASN/)
    await expect(readAsRanges([write('x.txt', '')])).rejects.toThrow('.csv or .tsv')
  })
})

const locations = write(
  'GeoLite2-City-Locations-en.csv',
  'geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,subdivision_1_iso_code,subdivision_1_name,subdivision_2_iso_code,subdivision_2_name,city_name,metro_code,time_zone,is_in_european_union\n' +
    '3143244,en,EU,Europe,NO,Norway,03,"Oslo, County",,,Oslo,,Europe/Oslo,0\n',
)
const blocks =
  'network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider,postal_code,latitude,longitude,accuracy_radius,is_anycast\n' +
  '203.0.113.0/24,3143244,3144096,,0,0,0150,59.9127,10.7461,20,\n198.51.100.0/24,,3144096,,0,0,,,,,\n'

const places: readonly (readonly [name: string, text: string, found: readonly unknown[]])[] = [
  ['lite.csv', lite, ['NO', '', '', 'country']],
  [
    'ipinfo_location.csv',
    'start_ip,end_ip,join_key,city,region,country,lat,lng,postal,timezone\n203.0.113.0,203.0.113.9,203.0.0.0,Oslo,Oslo,NO,59.9127,10.7461,0150,Europe/Oslo\n',
    ['NO', 'Oslo', '0150', 'city'],
  ],
  [
    'dbip-country-lite.csv',
    '0.0.0.0,0.255.255.255,ZZ\n203.0.113.0,203.0.113.255,NO\n',
    ['NO', '', '', 'country'],
  ],
  [
    'dbip-city-lite.csv.gz',
    '203.0.113.0,203.0.113.255,EU,NO,Oslo,"Oslo (Sentrum)",59.91,10.74\n',
    ['NO', 'Oslo (Sentrum)', '', 'city'],
  ],
  ['ip2asn-v4.tsv', '203.0.113.0\t203.0.113.9\t64500\tNO\tFJORD\n', ['NO', '', '', 'country']],
  [
    'own-cities.csv',
    'cidr,geoname_id,country_code,city,latitude,longitude\n203.0.113.0/24,3143244,NO,Oslo,59.9,10.7\n',
    ['NO', 'Oslo', '', 'city'],
  ],
  ['GeoLite2-City-Blocks-IPv4.csv', blocks, ['NO', 'Oslo', '0150', 'city']],
]

describe('a file of places', () => {
  it.each(places)('%s', async (name, text, found) => {
    const isBlocks = name.includes('Blocks')
    const files = [write(name, text), ...(isBlocks ? [locations] : [])]
    const read = await readPlaces(files)
    familyOf('203.0.113.1')
    const place = read.locations[valueAt(read.layers[4], words) - 1]
    expect([place?.country_code, place?.city, place?.zip, place?.accuracy]).toEqual(found)
    expect(read.files.map(({ path, leftOut }) => [path, leftOut])).toEqual(
      files.map((file) => [file, undefined]),
    )
    familyOf('198.51.100.200')
    expect(valueAt(read.layers[4], words)).toBe(0)
  })

  it('of no known layout is refused with those that are; one bad row is left out and told', async () => {
    const city = write('GeoLite2-City-Blocks-IPv6.csv', blocks)
    await expect(readPlaces([city])).rejects.toThrow('needs the -Locations- file')
    const odd = write('odd.csv', '203.0.113.0,203.0.113.9,a,b,c,d,e\n')
    await expect(readPlaces([odd])).rejects.toThrow(/5 columns.*DB-IP/)
    const bad = write('bad.csv', '203.0.113.0,203.0.113.9,NO\nx,y,NO\n1.0.0.0,1.0.0.9,SE\n')
    const { files } = await readPlaces([bad])
    expect(files[0]?.leftOut).toBe('1 row left out, line 2: no address')
  })
})
