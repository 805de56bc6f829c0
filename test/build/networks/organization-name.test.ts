// Names of organizations: what is mended, what is left alone, and which spelling wins.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cleanOrganization,
  completeOrganization,
  pickOrganization,
} from '../../../build/networks/organization-name.ts'

describe('cleanOrganization', () => {
  const cases: readonly (readonly [written: string, clean: string])[] = [
    ['Deutsche Telekom AG', 'Deutsche Telekom AG'],
    // bgp.tools quotes a part, then the whole: what a CSV reader makes of """Cogent…", LLC".
    ['"Cogent Communications", LLC', 'Cogent Communications, LLC'],
    ['"ViaSat",Inc.', 'ViaSat,Inc.'],
    ['OOO ""Sovremennye setevye tekhnologii""', 'OOO Sovremennye setevye tekhnologii'],
    ['"Kyivstar" PJSC', 'Kyivstar PJSC'],
    ['GILAT Colombia S.A. E.S.P.\n', 'GILAT Colombia S.A. E.S.P.'],
    ['Two  \t spaces', 'Two spaces'],
    ['SKIPLLC-AS-AP - SKIP LLC', 'SKIP LLC'],
    ['IRRA-AS-IN - IRRA INTERNET SERVICE PRIVATE LIMITED', 'IRRA INTERNET SERVICE PRIVATE LIMITED'],
    ['Limelight Networks - Limelight Networks', 'Limelight Networks'],
    ['MEO - SERVICOS DE COMUNICACOES', 'MEO - SERVICOS DE COMUNICACOES'],
    [
      'SIKT - KUNNSKAPSSEKTORENS TJENESTELEVERANDOR',
      'SIKT - KUNNSKAPSSEKTORENS TJENESTELEVERANDOR',
    ],
    ['AS44477', ''],
    ['-', ''],
    ['  ', ''],
    ['Name,', 'Name'],
  ]
  for (const [written, clean] of cases) {
    it(`${JSON.stringify(written)} is ${JSON.stringify(clean)}`, () => {
      expect(cleanOrganization(written)).toBe(clean)
    })
  }

  it('is done after one pass, leaves no quotes or control characters, and is never long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (written) => {
        const clean = cleanOrganization(written)
        expect(clean).not.toMatch(/["\p{Cc}]|^\s|\s$/u)
        expect(clean.length).toBeLessThanOrEqual(160)
      }),
    )
  })
})

describe('pickOrganization', () => {
  it('takes the longest clean spelling, whatever the order', () => {
    const spellings = ['DTAG', 'Deutsche Telekom AG', '"""""""""""""""""""""""""', 'AS3320']
    expect(pickOrganization(spellings)).toBe('Deutsche Telekom AG')
    expect(pickOrganization(spellings.toReversed())).toBe('Deutsche Telekom AG')
    expect(pickOrganization(['bb', 'aa'])).toBe('aa')
    expect(pickOrganization([])).toBe('')
  })
})

describe('completeOrganization', () => {
  const cut = 'Research Organization of Information and Systems, National Institute of Informa'
  const cases = [
    { fromRanges: 'Amazon.com, Inc.', fromFeeds: 'AWS', whole: 'Amazon.com, Inc.' },
    { fromRanges: '', fromFeeds: 'AWS', whole: 'AWS' },
    { fromRanges: cut, fromFeeds: `${cut}tics`, whole: `${cut}tics` },
    { fromRanges: cut, fromFeeds: 'Science Information Network', whole: cut },
    { fromRanges: 'RIPE Network Coordination Centre', fromFeeds: 'Elisa Oyj', whole: 'Elisa Oyj' },
    {
      fromRanges: 'RIPE Network Coordination Centre',
      fromFeeds: '',
      whole: 'RIPE Network Coordination Centre',
    },
    { fromRanges: 'Short', fromFeeds: 'Short and more', whole: 'Short' },
  ]
  for (const { fromRanges, fromFeeds, whole } of cases) {
    it(`${fromRanges} and ${fromFeeds} give ${whole}`, () => {
      expect(completeOrganization({ fromRanges, fromFeeds })).toBe(whole)
    })
  }
})
