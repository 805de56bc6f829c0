// The lines on editions of networks and places: each with its own reason.

import { describe, expect, it } from 'vitest'
import { isDataSet } from '../../build/catalogue/feed.ts'
import { loadWholeCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { editionLines } from '../../build/fetch-report.ts'
import type { ChosenEdition } from '../../build/acceptance/edition-acceptance.ts'
import { type Day, parseDay } from '../../src/base/day.ts'

const day = parseDay('2026-06-17') as Day
const sets = loadWholeCatalogue('data/feeds').filter(isDataSet)

/** Networks, then places. */
function editions(...more: readonly Partial<ChosenEdition>[]): readonly ChosenEdition[] {
  return sets.map((feed, at) => ({
    feed,
    edition: { files: [], day },
    from: 'embedded',
    commit: async () => undefined,
    ...more[at],
  }))
}

const ask = { keepDataSets: false }

describe('editionLines', () => {
  it('has none where the newest is used', () => {
    expect(editionLines(editions(), ask)).toEqual([])
  })

  it('has one line for both where one reason holds for both', () => {
    const problem = 'no host can be reached'
    const both = editions({ problem }, { problem })
    expect(editionLines(both, ask)).toEqual([
      'networks-asn, places-dbip-city: no newer edition (no host can be reached); used: ' +
        'embedded networks of 2026-06-17, embedded places of 2026-06-17',
    ])
    expect(editionLines(both, { keepDataSets: true })).toEqual([])
  })

  it('has a line each where the reasons differ', () => {
    const own = editions({ problem: 'status 404', from: 'stored' }, { problem: 'no time' })
    expect(editionLines(own, ask)).toEqual([
      'networks-asn: no newer edition (status 404); used: stored networks of 2026-06-17',
      'places-dbip-city: no newer edition (no time); used: embedded places of 2026-06-17',
    ])
  })

  it('names what was refused, whether it was asked for or not', () => {
    const quarantine = { reasons: ['it shrank', 'it is old'], instead: 'the embedded edition' }
    for (const keepDataSets of [false, true]) {
      expect(editionLines(editions({ quarantine }), { keepDataSets })).toEqual([
        'networks-asn is quarantined: it shrank; it is old (the embedded edition is used)',
      ])
    }
  })
})
