// The hand-kept carriers against what feeds say of their ASes: a tag that contradicts `mobile` is
// answered in the row's note, and no carrier is a campus, an office or a hoster by two voices.

import { expect, it } from 'vitest'
import { groupCount, hostingVoices } from '../../../build/networks/network-type.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { describeFeeds } from '../../feeds.ts'
import { feedFacts } from './feed-facts.ts'

const { mobile } = loadNetworkTables()

describeFeeds('mobile.csv beside the feeds', () => {
  const facts = feedFacts()
  const tagsOf = (asn: number): ReadonlySet<string> => facts.get(asn)?.tags ?? new Set()

  it('says in its note why a row tagged dsl stays', () => {
    const silent = mobile.filter(({ asn, note }) => tagsOf(asn).has('dsl') && note === '')
    expect(silent.map(({ asn, name }) => `AS${asn} ${name}`)).toEqual([])
    expect(mobile.some(({ asn }) => tagsOf(asn).has('dsl'))).toBe(true)
  })

  it('names no campus, no office, and nobody whom two voices call a hoster', () => {
    const odd = mobile.filter(({ asn }) => {
      const tags = tagsOf(asn)
      return tags.has('uni') || tags.has('corp') || groupCount(hostingVoices(facts.get(asn))) > 1
    })
    expect(odd.map(({ asn, name }) => `AS${asn} ${name}`)).toEqual([])
  })
})
