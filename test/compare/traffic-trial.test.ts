// The trial of a table by sampled checks, against whole answers of both tables, and what it
// refuses.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeTable } from '../../build/write/write-table.ts'
import type { Day } from '../../src/base/day.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { decideBy } from '../../src/policy/decide-by.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import type { SampledCheck } from '../../src/observe/sample-file.ts'
import { trialFault, tryByTraffic } from '../../src/compare/traffic-trial.ts'
import { listed, smallContent } from '../table/small-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-trial-'))
const tableOf = (name: string, entries: typeof listed): OpenTable => {
  writeTable(join(folder, name), smallContent(entries))
  return openTable(join(folder, name))
}
const before = tableOf('before', listed)
const after = tableOf('after', [
  ...listed.filter(([text]) => text !== '9.9.9.9'),
  ['9.50.0.0/16', 'vpn', 'Example VPN'],
])
afterAll(() => {
  before.close()
  after.close()
})

const written = {
  policies: {
    default: {
      rules: [{ name: 'vpn', condition: 'signals.vpn', action: 'block' }],
      otherwise: 'allow',
    },
    login: {
      rules: [{ name: 'any', condition: 'risk_score >= 20', action: 'step-up' }],
      otherwise: 'allow',
    },
  },
}
const checked = checkPolicies(JSON.stringify(written))
if (!('policies' in checked)) throw new Error('the policies are wrong')
const { policies } = checked

const check = (address: string, policy = ''): SampledCheck => ({
  lot: 0.5,
  day: 1 as Day,
  policy,
  address,
})

/** Of every kind of address that the small tables have, in the policies of both and a lost one. */
const checks = Array.from({ length: 3000 }, (_, i) => {
  const policy = ['', 'default', 'login', 'gone'][i % 4]!
  const texts = [
    `9.50.${i % 256}.7`,
    '9.9.9.9',
    `9.1.2.${i % 8}`,
    `11.1.1.${i % 4}`,
    '10.0.0.1',
    `2a01:4f8::${i % 5}`,
    '2002:0b01:0102::1',
    `12.0.${i % 256}.1`,
  ]
  return check(texts[Math.floor(i / 4) % texts.length]!, policy)
})

/** What a whole answer says, as a caller would be told. */
function told(table: OpenTable, { address, policy }: SampledCheck, decided: boolean): string {
  if (!decided) return table.check(address)?.classification ?? ''
  const name = policy === 'login' ? 'login' : 'default'
  const rules = policies.policies[name]!
  const query = newQuery()
  const bytes = new TextEncoder().encode(address)
  parseQuery(query, bytes, 0, bytes.length)
  const decide = decideBy(table, { revision: policies.revision, name, rules })
  return decide!(query).decision.action
}

const isChanged = (one: SampledCheck, decided: boolean): boolean =>
  told(before, one, decided) !== told(after, one, decided)

describe('the trial by sampled traffic', () => {
  it('counts the decisions that differ, each by its own policy', () => {
    const found = tryByTraffic(before, after, checks, { policies, maxPercent: 2 })
    const changed = checks.filter((one) => isChanged(one, true)).length
    expect(changed).toBeGreaterThan(300)
    expect(found).toMatchObject({ counted: 'decisions', sampled: 3000, changed })
    expect(found?.changes.reduce((sum, { checks }) => sum + checks, 0)).toBe(changed)
    expect(found?.changes).toContainEqual(expect.objectContaining({ from: 'allow', to: 'block' }))
  })

  it('counts classifications where there are no policies', () => {
    const found = tryByTraffic(before, after, checks, { maxPercent: 2 })
    const changed = checks.filter((one) => isChanged(one, false)).length
    expect(found).toMatchObject({ counted: 'classifications', changed })
    expect(changed).toBeGreaterThan(300)
  })

  it('judges nothing by less than a thousand checks', () => {
    const how = { maxPercent: 0 }
    expect(tryByTraffic(before, after, checks.slice(0, 999), how)).toBeUndefined()
    expect(tryByTraffic(before, after, checks.slice(0, 1000), how)).toMatchObject({ sampled: 1000 })
    expect(trialFault(undefined)).toBeUndefined()
  })

  it('refuses what is above the share, and only that', () => {
    const flat = Array.from({ length: 1000 }, (_, i) => check(i < 20 ? '9.50.0.1' : '9.1.1.1'))
    const most = (maxPercent: number): string | undefined =>
      trialFault(tryByTraffic(before, after, flat, { policies, maxPercent }))
    expect(most(2)).toBeUndefined()
    expect(most(1.99)).toContain('of 1,000 sampled addresses 20 (2 %) would get other decisions')
    expect(most(1.99)).toContain('(allow to block 20); the limit is 1.99 %')
  })
})
