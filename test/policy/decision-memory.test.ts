// What is remembered of one record and family is not taken for what others are.

import { expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { decide, newDecisionMemory } from '../../src/policy/decision-memory.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { locate, newLocated } from '../../src/table/lookup/locate.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { sampleAddresses } from './sample-addresses.ts'

it.each([
  ['version == 6', ''],
  ['version == 6', ' && (network.asn >= 0)'],
  ['version == 6', ' && (location.latitude < 1000.0) && (network.asn >= 0)'],
])('%s%s holds for IPv6 alone, whatever was asked first', (condition, more) => {
  const rules = [{ name: 'six', condition: condition + more, action: 'six' }]
  const checked = checkPolicies(
    JSON.stringify({ policies: { default: { rules, otherwise: 'four' } } }),
  )
  if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
  const set = compilePolicies(checked.policies)
  const table = openTable(writeSmallTable())
  const words = newAddressWords()
  /** One address for each verdict, network, location and family that the sample has. */
  const asked = new Map<string, string>()
  for (const address of sampleAddresses(3000)) {
    const family = parseAddress(address, words)
    const { verdict, network, location, bogon, version } = locatedAt(family === 4 ? 4 : 6)
    asked.set([verdict, network, location, bogon, version].join(), address)
  }
  function locatedAt(family: 4 | 6) {
    const located = newLocated()
    locate(table.reader.views, family, words, located)
    return located
  }
  const wrong: string[] = []
  for (const first of asked.values()) {
    const memory = newDecisionMemory(set, table.reader)
    for (const address of [first, ...asked.values()]) {
      const located = locatedAt(parseAddress(address, words) === 4 ? 4 : 6)
      const { action } = set.policies[0]!.outcomes[decide(memory, 0, words, located)]!.decision
      if (action !== (located.version === 6 ? 'six' : 'four')) wrong.push(`${first}: ${address}`)
    }
  }
  expect(wrong.slice(0, 5)).toEqual([])
  expect(asked.size).toBeGreaterThan(10)
  table.close()
})
