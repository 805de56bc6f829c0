// The bytes of answers against their twin over the world table: 70,000 announced addresses of each
// family, 35,000 from all of the space, and IPv4 inside IPv6 in its four forms.

import { beforeAll, expect, it } from 'vitest'
import { announcedSpace } from '../../../bench/speed/lookups/announced.ts'
import { newRandom } from '../../../bench/harness/random.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { formatAddress, formatIpv4 } from '../../../src/ip/format-address.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { describeFeeds } from '../../feeds.ts'
import { worldTable } from '../../world/world-tables.ts'
import { differenceOf } from './answer-twin.ts'

describeFeeds('answers of the world table as bytes', () => {
  let table: OpenTable
  beforeAll(async () => {
    table = openTable(await worldTable())
  })
  const random = newRandom(20260822)
  const words = newAddressWords()

  function differences(count: number, text: () => string): readonly string[] {
    const found: string[] = []
    for (let run = 0; run < count && found.length < 5; run++) {
      const difference = differenceOf(table, text())
      if (difference !== undefined) found.push(difference)
    }
    return found
  }

  it.each([4, 6] as const)('are the same for 70,000 announced addresses of IPv%i', (family) => {
    const space = announcedSpace(table.reader.views, family)
    const text = (): string => {
      space.draw(random, words)
      return formatAddress(family, words)
    }
    expect(differences(70_000, text)).toEqual([])
  })

  it('are the same for 35,000 addresses anywhere, bogons among them', () => {
    const text = (): string => {
      if (random.below(2) === 0) return formatIpv4(random.word())
      for (let word = 0; word < 4; word++) words[word] = random.below(3) === 0 ? 0 : random.word()
      return formatAddress(6, words)
    }
    expect(differences(35_000, text)).toEqual([])
  })

  it('are the same for 35,000 IPv4 addresses inside IPv6, of any spelling', () => {
    const hex = (value: number): string =>
      `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16).padStart(4, '0')}`
    const forms: readonly ((value: number) => string)[] = [
      (value) => `::ffff:${formatIpv4(value)}`,
      (value) => `0:0:0:0:0:FFFF:${hex(value)}`,
      (value) => `64:ff9b::${formatIpv4(value)}`,
      (value) => `2002:${hex(value)}::1`,
      (value) => `2001:0:1:2::${hex(~value >>> 0)}`,
    ]
    const text = (): string => forms[random.below(forms.length)]!(random.word())
    expect(differences(35_000, text)).toEqual([])
  })
})
