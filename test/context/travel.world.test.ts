// Travel and detections (contract 6.7 and 6.8) on the world table: addresses whose place is not their
// user's, each with its source as of 2026-08-22, against lines of people; and the detections of
// announced addresses against their answers.

import { beforeAll, expect, it } from 'vitest'
import { newRandom } from '../../bench/harness/random.ts'
import { announcedSpace } from '../../bench/speed/lookups/announced.ts'
import { contextAnswer } from '../../src/context/context.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import type { TravelDoubt } from '../../src/model/kind.ts'
import { decideQuery, newDecisionMemory } from '../../src/policy/decision-memory.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { detectionsAt, wrongDetections } from '../table/explain/detection-twin.ts'
import { worldTable } from '../world/world-tables.ts'

/** Comcast in California; its place is a city. */
const home = '73.162.10.20'

const unreliable: readonly (readonly [string, TravelDoubt, string])[] = [
  ['98.97.1.1', 'satellite', 'Starlink: AS14593, data/tables/satellite.csv'],
  ['2a0d:3344::1', 'satellite', 'Starlink over IPv6: the same'],
  ['172.56.1.1', 'mobile', 'T-Mobile US: AS21928, data/tables/mobile.csv'],
  ['2607:fb90::1', 'mobile', 'T-Mobile US over IPv6: the same'],
  ['49.32.1.1', 'mobile', 'Jio: AS55836, data/tables/mobile.csv'],
  ['165.225.0.1', 'corporate_egress', 'Zscaler: AS22616, data/tables/corporate.csv'],
  [
    '136.226.1.1',
    'corporate_egress',
    'Zscaler: 136.226.0.0/16, data/tables/corporate-prefixes.csv',
  ],
  ['172.226.0.80', 'relay', 'iCloud Private Relay: Apple’s egress ranges, feed relay-apple'],
  ['1.1.1.1', 'cdn', 'Cloudflare’s resolver, anycast: data/tables/resolvers.csv'],
  ['208.67.222.222', 'cdn', 'Cisco’s resolver, anycast: data/tables/resolvers.csv'],
  ['151.101.1.1', 'cdn', 'an edge of Fastly: AS54113, data/tables/cdn.csv'],
  ['8.8.8.8', 'country_only', 'placed by country alone: @ip-location-db'],
  ['198.44.137.19', 'vpn', 'Windscribe’s own list, feed vpn-windscribe'],
  ['185.220.101.33', 'tor', 'the Tor consensus, feed tor-exits-onionoo'],
  ['88.198.1.1', 'hosting', 'Hetzner’s announcements, feed hosting-hetzner'],
]

const lines: readonly (readonly [string, string, string])[] = [
  ['87.128.1.1', 'DE', 'Deutsche Telekom'],
  ['86.128.1.1', 'GB', 'BT'],
  ['90.0.1.1', 'FR', 'Orange'],
  ['101.160.1.1', 'AU', 'Telstra'],
  ['126.0.1.1', 'JP', 'SoftBank’s fixed lines'],
]

describeFeeds('travel over the world', () => {
  let table: OpenTable
  beforeAll(async () => {
    table = openTable(await worldTable())
  })
  const query = newQuery()

  function travel(from: string, to: string) {
    parseQuery(query, Buffer.from(to), 0, to.length)
    const previous = { value: { ip: from, hours: 1 } }
    return contextAnswer({ previous }, table.answer(query)).travel!
  }

  it.each(unreliable)('of %s is not reliable: %s (%s)', (ip, doubt) => {
    const there = travel(home, ip)
    const back = travel(ip, home)
    expect(there).toEqual(back)
    expect(there).toMatchObject({ known: true, reliable: false, same_asn: false })
    expect(there.unreliable_because).toContain(doubt)
  })

  it.each(lines)('of %s, %s, is reliable and fast (%s)', (ip, country) => {
    expect(table.check(ip)?.location?.country_code).toBe(country)
    expect(travel(home, ip)).toMatchObject({ known: true, reliable: true, same_country: false })
    expect(travel(home, ip).kmh).toBeGreaterThan(5000)
    expect(travel(ip, ip)).toMatchObject({ km: 0, kmh: 0, same_country: true, same_asn: true })
  })

  it('is challenged by a policy where it is impossible and reliable, and there alone', () => {
    const rules = [
      { name: 'travel', condition: 'travel.kmh > 1000 && travel.reliable', action: 'challenge' },
    ]
    const policies = { default: { rules, otherwise: 'allow' } }
    const checked = checkPolicies(JSON.stringify({ policies }))
    if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
    const memory = newDecisionMemory(compilePolicies(checked.policies), table.reader)
    const actionOf = (ip: string): string => {
      const context = { travel: travel(home, ip) }
      return decideQuery(memory, 0, query, undefined, context).decision.action
    }
    expect(lines.map(([ip]) => actionOf(ip))).toEqual(lines.map(() => 'challenge'))
    expect(unreliable.map(([ip]) => actionOf(ip))).toEqual(unreliable.map(() => 'allow'))
    expect(actionOf(home)).toBe('allow')
    expect(decideQuery(memory, 0, query).decision.action).toBe('allow')
  })

  it.each([4, 6] as const)('detections of announced addresses of IPv%i are their answers', (of) => {
    const space = announcedSpace(table.reader.views, of)
    const random = newRandom(68)
    const words = newAddressWords()
    const wrong: string[] = []
    let found = 0
    for (let run = 0; run < 20_000 && wrong.length < 5; run++) {
      space.draw(random, words)
      const ip = formatAddress(of, words)
      const detections = detectionsAt(table, ip)
      found += detections.length
      // Insights of all would take long.
      if (detections.length > 0 || run % 20 === 0) wrong.push(...wrongDetections(table, ip))
    }
    expect(wrong).toEqual([])
    expect(found).toBeGreaterThan(of === 4 ? 1000 : 100)
  })
})
