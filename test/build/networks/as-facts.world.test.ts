// What the shared feeds say of ASes.

import { expect, it } from 'vitest'
import { describeFeeds } from '../../feeds.ts'
import { feedFacts } from './feed-facts.ts'

describeFeeds('facts of the shared feeds', () => {
  const facts = feedFacts()

  it('know every label and every AS of bgp.tools', () => {
    expect(facts.unknownLabels).toEqual(new Map())
    expect(facts.asnCount).toBeGreaterThan(120_000)
    expect(facts.get(7922)?.tags).toContain('dsl')
    expect(facts.get(3320)?.class).toBe('T1')
    expect(facts.get(7155)?.name).toBe('ViaSat,Inc.')
  })

  // The ground for their common group in hosting-finding.ts; if it fails, they have become
  // independent.
  it('show that tn3w and x4b republish badlist', () => {
    const listed = (feed: string): Set<number> => {
      const asns = Array.from({ length: 410_000 }, (_, asn) => asn)
      return new Set(asns.filter((asn) => facts.get(asn)?.lists.includes(feed)))
    }
    const badlist = listed('hosting-asn-badlist')
    for (const feed of ['hosting-asn-tn3w', 'hosting-asn-x4b']) {
      const shared = overlap(listed(feed), badlist)
      expect(shared / badlist.size).toBeGreaterThan(0.95)
    }
  })
})

function overlap(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  return [...a].filter((asn) => b.has(asn)).length
}
